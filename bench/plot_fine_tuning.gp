# Dice after each epoch of training from random weights and from another run's weights, one line per seed.
# Input: output of bench/fine_tuning.py.
#
#   gnuplot -e "csv='bench/results/2026-11-23_fine_tuning.csv'; svg='docs/images/fine_tuning.svg'" bench/plot_fine_tuning.gp
set terminal svg size 800,400 font "sans-serif,12" background "white"
set output svg
rows(begins, seed) = sprintf("< tr -d '\"' < %s | sed 's/init, encoder frozen/frozen/' | awk -F, '$2 == \"%s\" && $3 == %d {print $4, $6}'", csv, begins, seed)
set yrange [0:0.6]
set xlabel "epoch"
set ylabel "mean Dice of the validation cases"
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set border 3 lc rgb "#666666"
set tics nomirror
set key top left reverse Left
plot for [s=1:3] rows("random", s) using 1:2 with lines lw 1.4 lc rgb "#c0392b" title (s == 1 ? "random weights" : ""), \
     for [s=1:3] rows("init", s) using 1:2 with lines lw 1.4 lc rgb "#1e8449" title (s == 1 ? "network.init: a run with other labels" : ""), \
     for [s=1:3] rows("frozen", s) using 1:2 with lines lw 1.4 lc rgb "#2471a3" title (s == 1 ? "the same, encoder frozen" : "")
