# Dice after each epoch of the hippocampus folds, and of one fold trained longer: means over both regions.
# Input: the runs' validation.csv, concatenated.
#
#   gnuplot -e "csv='bench/results/2026-11-23_hippocampus_validation.csv'; svg='docs/images/hippocampus_validation.svg'" bench/plot_hippocampus.gp
set terminal svg size 800,420 font "sans-serif,12" background "white"
set output svg
rows(name) = sprintf("< awk -F, -v name=\"%s\" '$1 == name {sum[$4] += $7; ++n[$4]} END {for (e in sum) print e, sum[e] / n[e]}' %s | sort -n", name, csv)
set logscale x
set xrange [1:400]
set yrange [0.8:0.9]
set xlabel "epoch"
set ylabel "mean Dice of 40 validation cases, training grid"
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set border 3 lc rgb "#666666"
set tics nomirror
set xtics (1, 2, 5, 10, 20, 60, 100, 200, 400)
set key bottom right reverse Left
plot rows("fold-0") using 1:2 with lines lw 2 lc rgb "black" title "fold 0", \
     rows("fold-1") using 1:2 with lines lw 1.4 lc rgb "#2471a3" title "fold 1", \
     rows("fold-2") using 1:2 with lines lw 1.4 lc rgb "#1e8449" title "fold 2", \
     rows("fold-3") using 1:2 with lines lw 1.4 lc rgb "#8e44ad" title "fold 3", \
     rows("fold-4") using 1:2 with lines lw 1.4 lc rgb "#b9770e" title "fold 4", \
     rows("long") using 1:2 with lines lw 2 lc rgb "#c0392b" title "fold 0, 400 epochs"
