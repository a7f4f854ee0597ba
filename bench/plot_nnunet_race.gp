# Dice per minute beside nnU-Net: means over the held-out cases. Input: rows of `bench/nnunet_race.py score`.
#
#   gnuplot -e "csv='bench/results/2026-11-25_nnunet_race.csv'; svg='docs/images/nnunet_race.svg'" bench/plot_nnunet_race.gp
set terminal svg size 800,420 font "sans-serif,12" background "white"
set output svg
rows(name, label) = sprintf("< awk -F, -v name=\"%s\" -v label=\"%s\" '$1 == name && $4 == label {sum[$2] += $5; ++n[$2]} END {for (m in sum) print m, sum[m] / n[m]}' %s | sort -n", name, label, csv)
set xrange [0:62]
set yrange [-0.03:1]
set xlabel "minutes of training on one core"
set ylabel "mean Dice of 40 held-out cases"
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set border 3 lc rgb "#666666"
set tics nomirror
set key at graph 0.98, 0.55 right reverse Left
plot rows("voxswap", "anterior") using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb "#2471a3" title "voxswap, anterior", \
     rows("voxswap", "posterior") using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb "#1e8449" title "voxswap, posterior", \
     rows("nnunet", "anterior") using 1:2 with linespoints lw 2 dt 2 pt 5 ps 0.6 lc rgb "#c0392b" title "nnU-Net, anterior", \
     rows("nnunet", "posterior") using 1:2 with linespoints lw 2 dt 4 pt 5 ps 0.6 lc rgb "#b9770e" title "nnU-Net, posterior"
