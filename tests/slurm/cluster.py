"""Runs Slurm's daemons on this machine in their own folder: a one-node cluster that ends with its `with` block."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])

# One node with more processors than the machine may have, so that tests do not depend on their number. Neither memory
# nor cores are confined, because that would need the machine's control groups.
CONFIGURATION = """ClusterName=voxswap
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldParameters=enable_configless
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,requeue_delay=0
MinJobAge=600
ReturnToService=2
KillWait=30
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def program(name):
    return shutil.which(name, path=PATH)


def missing():
    """Returns the reason why no cluster can run here, or None."""
    lacks = [name for name in (*DAEMONS, "sbatch", "srun", "scontrol") if not program(name)]
    if lacks:
        return f"{', '.join(lacks)} not installed (apt-get install slurmctld slurmd slurm-client munge)"
    return None if os.getuid() == 0 else "slurmd starts jobs as root only"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    def __init__(self, folder):
        self.folder, self.daemons = Path(folder), []

    def __enter__(self):
        self.folder.mkdir(parents=True)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20 // 2
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], folder=self.folder, controller_port=free_port(), node_port=free_port(),
            user=pwd.getpwuid(os.getuid()).pw_name, memory=memory))
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        self.start("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={self.folder}/munge.key",
                   f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munge.seed", f"--log-file={self.folder}/munged.log")
        self.until("munged answers", lambda: (self.folder / "munge.socket").exists())
        self.start("slurmctld", "-D", "-f", f"{self.folder}/slurm.conf")
        self.start("slurmd", "-D", "-f", f"{self.folder}/slurm.conf")
        self.until("the node is idle", lambda: "idle" in self.call("sinfo", "-h", "-o", "%T", check=False))

    def __exit__(self, *_):
        if len(self.daemons) == len(DAEMONS):
            self.call("scancel", "--full", "--user=root", check=False)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def start(self, name, *arguments):
        with open(self.folder / f"{name}.output", "wb") as output:
            self.daemons.append(subprocess.Popen([program(name), *arguments], env=self.environment(), stdin=subprocess.DEVNULL,
                                                 stdout=output, stderr=output, cwd=self.folder))

    def environment(self):
        return {**os.environ, "SLURM_CONF": f"{self.folder}/slurm.conf", "PATH": PATH}

    def call(self, name, *arguments, check=True, **more):
        return subprocess.run([program(name), *arguments], env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=check, **more).stdout

    def until(self, what, holds, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise RuntimeError(f"waited {seconds} s until {what}\n{self.logs()}")
            ended = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if ended:
                raise RuntimeError(f"{', '.join(ended)} ended\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        return "\n".join(f"--- {file.name}\n{file.read_text(errors='replace')[-1500:]}"
                         for file in sorted(self.folder.glob("*")) if file.suffix in (".log", ".output"))

    def details(self, job):
        """Returns Slurm's details of the job, or of each element of an array."""
        lines = self.call("scontrol", "show", "job", "-o", str(job)).splitlines()
        return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines if line.strip()]
