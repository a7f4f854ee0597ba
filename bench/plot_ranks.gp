# Throughput (volumes per second) of ranks that train together, relative to the ideal, beside the published
# study's. Input: output of `bench/ranks.py run`.
#
#   gnuplot -e "csv='bench/results/2026-11-23_ranks.csv'; svg='docs/images/ranks.svg'" bench/plot_ranks.gp
set terminal svg size 800,400 font "sans-serif,12" background "white"
set output svg
set datafile separator comma
rows(machine) = sprintf("< awk -F'\"' '$2 ~ /%s/ {print $2 $3}' %s | sed 's/^[^,]*, [^,]*, [^,]*,//'", machine, csv)

$published << EOD
4,98.3
8,97.0
16,92.2
EOD

set logscale x 2
set xrange [0.9:1150]
set yrange [0:105]
set xlabel "ranks"
set ylabel "efficiency, %"
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set border 3 lc rgb "#666666"
set tics nomirror
set key bottom left reverse Left
plot rows("study") using 1:(100*$6) with linespoints lw 1.6 pt 7 ps 0.6 lc rgb "#1e8449" \
       title "simulated: the study's AC922 (4 to a machine), 192^3, f32", \
     rows("H200") using 1:(100*$6) with linespoints lw 1.6 pt 5 ps 0.6 lc rgb "#2471a3" \
       title "simulated: H200 (8 to a machine), 192^3, bf16", \
     $published using 1:2 with points pt 9 ps 1.1 lc rgb "#c0392b" title "published: the study, DDL"
