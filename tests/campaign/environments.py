"""Closed, full and broken streams, other locales, time zones, home folders and limits must not change the results."""

import subprocess

from workbench import leftovers, whole

TITLE = "environments"
VARIABLES = [{"LC_ALL": "de_DE.UTF-8"}, {"LC_ALL": "C"}, {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, {"TZ": "Asia/Kathmandu"},
             {"TZ": ""}, {"HOME": None}, {"HOME": "/nonexistent"}, {"TERM": None}, {"TERM": "dumb"}, {"COLUMNS": "1"},
             {"PATH": "/nonexistent"}, {"TMPDIR": "/nonexistent"}, {"LC_ALL": None, "LANG": None}, {"MALLOC_PERTURB_": "165"},
             {"NO_COLOR": "1"}]
# (shell redirection, allowed exit codes)
STREAMS = [(">&-", {0, 1}), ("2>&-", {0}), ("<&-", {0}), ("<&- >&- 2>&-", {0, 1}), (">/dev/full", {0, 1, 4}), ("2>/dev/full", {0}),
           ("| true", {0}), ("2>&1 >/dev/null | true", {0}), ("</dev/zero", {0}), (">/dev/full 2>/dev/full", {0, 1, 4})]
# Process limits; a command that exceeds one must report an error.
LIMITS = ["ulimit -n 12", "ulimit -n 20", "ulimit -f 1", "ulimit -f 64", "ulimit -v 400000", "ulimit -v 600000",
          "ulimit -s 256", "ulimit -c 0", "umask 777", "umask 000"]
COMMANDS = ["run", "train", "predict", "evaluate", "report", "phantom", "check", "preview", "sweep"]


def shell(bench, command, folder, before="true", streams="", variables=None):
    line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in [bench.program, *bench.commands()[command][0]])
    text = f"{before}; {{ {line}; }} {streams}; exit ${{PIPESTATUS[0]}}"
    return subprocess.run(["/bin/bash", "-c", text], cwd=folder, env=bench.environment(variables), capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=300, encoding="utf-8", errors="replace")


def trial(bench, random):
    command, folder = random.choice(COMMANDS), bench.trial_folder()
    bench.expected(command)
    kind = random.choice(["variables", "streams", "limits"])
    if kind == "variables":
        variables = random.choice(VARIABLES)
        subject, promised = f"{command} with {variables}", {0}
        outcome = shell(bench, command, folder, variables=variables)
    elif kind == "streams":
        streams, promised = random.choice(STREAMS)
        subject, outcome = f"{command} {streams}", shell(bench, command, folder, streams=streams)
    else:
        limit = random.choice([*LIMITS, f"ulimit -v {random.randrange(100, 500) * 1000}"])
        subject, promised = f"{limit}; {command}", {0, 1, 4}
        outcome = shell(bench, command, folder, before=limit)
    if outcome.returncode == 127:  # the loader cannot map the program and reports it
        return 1, subject, whole(folder), folder
    complaints = []
    if outcome.returncode not in promised:
        complaints.append(f"exit code {outcome.returncode}: {outcome.stderr[-300:]!r}")
    most = 2 if command == "sweep" else 1  # a sweep goes on after a failed cell: both may report errors
    if kind != "streams" and outcome.returncode != 0 and not 1 <= outcome.stderr.count("error: ") <= most:
        complaints.append(f"exit code {outcome.returncode} with the message {outcome.stderr[-300:]!r}")
    complaints += whole(folder) + leftovers(folder)
    plain = kind == "streams" or (kind == "variables" and "PATH" not in variables and "TMPDIR" not in variables)
    if plain and outcome.returncode in (0, 1, 4) and command != "check" and not complaints:
        complaints += bench.differences(command, folder, "")
    return 1, subject, complaints, folder
