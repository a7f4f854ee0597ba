# Dice after each epoch of trainings that differ in one ingredient: means over seeds. Input: output of
# bench/ingredients.py.
#
#   gnuplot -e "csv='bench/results/2026-11-23_ingredients_curves.csv'; svg='docs/images/ingredients.svg'" bench/plot_ingredients.gp
set terminal svg size 800,420 font "sans-serif,12" background "white"
set output svg
rows(name) = sprintf("< tr -d '\"' < %s | awk -F, -v name=\"%s\" '$2 == name {sum[$4] += $6; ++n[$4]} END {for (e in sum) print e, sum[e] / n[e]}' | sort -n", csv, name)
set yrange [0.7:0.87]
set xlabel "epoch"
set ylabel "mean Dice of 40 validation cases"
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set border 3 lc rgb "#666666"
set tics nomirror
set key bottom right reverse Left
plot rows("a third around labels (patches)") using 1:2 with lines lw 1.6 lc rgb "#1e8449" title "a third around labels (patches)", \
     rows("twice the filters") using 1:2 with lines lw 1.6 lc rgb "#2471a3" title "twice the filters", \
     rows("deep supervision") using 1:2 with lines lw 1.6 lc rgb "#8e44ad" title "deep supervision", \
     rows("plain") using 1:2 with lines lw 2 lc rgb "black" title "plain", \
     rows("two cases per step") using 1:2 with lines lw 1.6 lc rgb "#b9770e" title "two cases per step", \
     rows("all of nnU-Net's") using 1:2 with lines lw 1.6 lc rgb "#c0392b" title "all of nnU-Net's", \
     rows("no augmentation") using 1:2 with lines lw 1.6 lc rgb "#7f8c8d" title "no augmentation"
