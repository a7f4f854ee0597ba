# Speed-up of one volume on several H100s over one with unlimited memory, simulated; and what was measured on two cores.
# Input: output of `bench/slab_scaling.py run`.
#
#   gnuplot -e "csv='bench/results/2026-11-27_slab_scaling.csv'; svg='docs/images/slab_scaling.svg'" bench/plot_slab_scaling.gp
set terminal svg size 800,420 font "sans-serif,12" background "white"
set output svg
set datafile separator comma
rows(side) = sprintf("< awk -F, '$1 == %d' %s", side, csv)

$measured << EOD
2,1.79
EOD

set logscale xy 2
set xrange [0.9:75]
set yrange [0.6:75]
set xlabel "ranks that share a volume"
set ylabel "speed-up"
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set border 3 lc rgb "#666666"
set tics nomirror
set key top left reverse Left
plot x title "ideal" lc rgb "#aaaaaa" dt 2, \
     rows(256) using 2:5 with linespoints lw 1.6 pt 7 ps 0.6 lc rgb "#c0392b" title "H100, 256^3, bf16: simulated", \
     rows(512) using 2:5 with linespoints lw 1.6 pt 5 ps 0.6 lc rgb "#2471a3" title "512^3", \
     rows(1024) using 2:5 with linespoints lw 1.6 pt 9 ps 0.6 lc rgb "#1e8449" title "1,024^3, swaps on 1 to 4 ranks", \
     rows(2048) using 2:5 with points pt 13 ps 1.2 lc rgb "#7d3c98" title "2,048^3", \
     $measured using 1:2 with points pt 2 ps 1.4 lw 2 lc rgb "#000000" title "measured: two CPU cores, 128^3, f32"
