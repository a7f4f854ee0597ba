# Small multiples of step time relative to planner keep with unlimited memory, by cube side: one panel per
# device, link and precision. Input: output of `planners grid`.
#
#   gnuplot -e "csv='bench/results/2026-11-24_planners.csv'; svg='docs/images/planners.svg'" bench/plot_planners.gp
set terminal svg size 1120,640 font "sans-serif,12" background "white"
set output svg
set datafile separator comma

planners = "lms-threshold tflms checkpoint hybrid"
colours = "#b8860b #c0392b #2471a3 #1e8449"
markers = "9 7 5 13"  # filled; the hollow ones are one less
rows(device, link, precision, budget, planner) = sprintf("< awk -F, '$1==\"%s\" && $2==%s && $3==\"%s\" && $5==%s && $6==\"%s\"' %s", device, link, precision, budget, planner, csv)

set logscale y 2
set yrange [0.97:*]
set xrange [120:*]
set autoscale xfixmax
set xtics ("144" 144, "" 192, "256" 256, "320" 320, "384" 384, "448" 448, "512" 512, "640" 640, "768" 768) font ",10"
set ytics font ",10"
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set border 3 lc rgb "#666666"
set tics nomirror
unset key
set label 1 "step over keep's in unlimited memory" at screen 0.012,0.54 center rotate by 90
set label 2 "side of the cube" at screen 0.52,0.105 center

set multiplot layout 2,4 margins 0.055,0.99,0.17,0.93 spacing 0.035,0.13
do for [precision in "f32 half"] {
  do for [device in "v100 h200"] {
    do for [link in "12 64"] {
      set title sprintf("%s, %s, %s GB/s", device eq "v100" ? "V100" : "H200", precision, link) font ",12" offset 0,-0.6
      plot for [b in "16 32"] rows(device, link, precision, b, "hybrid") using 4:($11/$9) \
        with lines lw 1.2 dt b/16*2-1 lc rgb "#888888", \
        for [b in "16 32"] for [i=1:words(planners)] rows(device, link, precision, b, word(planners, i)) using 4:10 \
        with linespoints lw 1.6 dt b/16*2-1 pt (word(markers, i)+1-b/16) ps 0.7 lc rgb word(colours, i)
      unset label
    }
  }
}
# The legend, once, below all panels.
unset title; unset tics; unset border; unset grid; unset logscale
set lmargin at screen 0.05; set rmargin at screen 0.95; set tmargin at screen 0.07; set bmargin at screen 0.01
set xrange [0:1]; set yrange [0:1]
set key center center horizontal maxrows 1 samplen 2 width -1 font ",12"
plot for [i=1:words(planners)] NaN with linespoints lw 1.6 pt (word(markers, i)+0) ps 0.7 lc rgb word(colours, i) \
  title word(planners, i), \
  NaN with lines lw 1.2 lc rgb "#888888" title "bound", \
  NaN with lines lw 1.6 dt 1 lc rgb "black" title "16 GiB", \
  NaN with lines lw 1.6 dt 3 lc rgb "black" title "32 GiB"
unset multiplot
