#!/bin/bash
# Trains one model on all tasks of a Slurm job, which resumes automatically after its time limit (docs/how_to/slurm.md):
#   sbatch experiments/slurm.sh study.yaml --out runs/study
#SBATCH --job-name=voxswap
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=8
#SBATCH --time=24:00:00
#SBATCH --signal=USR1@180
#SBATCH --requeue
#SBATCH --open-mode=append
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
# When a rank has ended, the remaining ones are killed after 5 seconds.
srun --mpi=pmix --cpus-per-task="$OMP_NUM_THREADS" --wait=5 "${VOXSWAP:-voxswap}" run "$@" --resume
code=$?
# Interrupted with a checkpoint: requeue the same job.
if [ "$code" -eq 130 ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
