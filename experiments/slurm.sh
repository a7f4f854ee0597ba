#!/bin/bash
# One model on all tasks of a Slurm job, which goes on by itself where its time was up (docs/how_to/slurm.md):
#   sbatch experiments/slurm.sh study.yaml --out runs/study
#SBATCH --job-name=voxswap
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=8
#SBATCH --time=24:00:00
#SBATCH --signal=USR1@180
#SBATCH --requeue
#SBATCH --open-mode=append
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
# Who is left when a rank has ended is ended five seconds later.
srun --mpi=pmix --cpus-per-task="$OMP_NUM_THREADS" --wait=5 "${VOXSWAP:-voxswap}" run "$@" --resume
code=$?
# Interrupted with a checkpoint: the same job again.
if [ "$code" -eq 130 ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
