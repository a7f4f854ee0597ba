"""Kills, interrupts and pauses every command at random moments, then runs the same command to its end."""

import signal
import time

from workbench import leftovers, whole

TITLE = "kills and signals"
SIGNALS = [signal.SIGKILL] * 4 + [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSTOP]
POLITE = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}


def strike(bench, arguments, folder, moment, number):
    """Starts the command, sends the signal after `moment` seconds and waits. Returns complaints and the outcome."""
    began = time.monotonic()
    process = bench.start(arguments, folder)
    time.sleep(moment)
    process.send_signal(number)
    if number == signal.SIGSTOP:
        time.sleep(0.05)
        process.send_signal(signal.SIGCONT)
    outcome = bench.finish(process, began)
    killed = number == signal.SIGKILL or (number in POLITE and not outcome.stderr and not outcome.stdout)
    complaints = outcome.complaints(promised={0, 130}, killed=killed)  # before main() no signal handler is installed
    return complaints, outcome


def trial(bench, random):
    command = random.choice(["run"] * 4 + ["train", "sweep", "predict", "evaluate", "report", "phantom", "check", "preview"])
    seconds, _, _ = bench.expected(command)
    folder = bench.trial_folder()
    complaints, arguments, strikes, killed = [], bench.commands()[command][0], [], False
    if random.random() < 0.5:
        for file in (folder / "cache").rglob("*.prepared"):
            file.unlink()  # so that preparing is part of the run
    for _ in range(random.choice([1, 1, 2, 3])):
        number, moment = random.choice(SIGNALS), random.uniform(0, 1.1 * seconds)
        found, outcome = strike(bench, arguments, folder, moment, number)
        strikes.append(f"{number.name} at {moment:.2f} s")
        complaints += found + whole(folder)
        killed = killed or number == signal.SIGKILL
        if not killed:  # the next process removes the remains of a killed one
            complaints += leftovers(folder)
        if outcome.code == 0 or complaints:
            break
        arguments = bench.repeated(command)
    if not complaints:
        complaints += bench.finished(command, folder)
    return len(strikes), f"{command}: {', '.join(strikes)}", complaints, folder
