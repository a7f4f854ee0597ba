// Paints a plane of the slice viewer: greys, regions as outlines or fills, errors, the crosshair.

// Returns the size of a plane in millimetres, {width, height}.
function extent(study, plane) {
  const side = (axis) => study.size[axis] * study.spacing[axis];
  return { width: side(plane.right), height: side(plane.down) };
}

// Returns the slice of greys as an image, windowed; one pixel per stored block.
function greyPicture(study, view, plane, greys) {
  const size = study.size.map((n, axis) => Math.ceil(n / study.step[axis]));
  const at = Math.floor(view.at[plane.normal] / study.step[plane.normal]);
  const { width, height, bytes } = sliceOf(greys, size, plane, at);
  const [low, high] = study.channels[view.channel].range;
  const shade = new Uint8ClampedArray(256);
  for (let byte = 0; byte < 256; ++byte) {
    const value = low + (byte / 255) * (high - low);
    shade[byte] = (255 * (value - view.level + view.width / 2)) / view.width;
  }
  const picture = new ImageData(width, height);
  for (let i = 0; i < bytes.length; ++i) {
    picture.data.fill(shade[bytes[i]], 4 * i, 4 * i + 3);
    picture.data[4 * i + 3] = 255;
  }
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").putImageData(picture, 0, 0);
  return canvas;
}

// Blocks at the far end of an axis may be smaller than the others: they are drawn up to the volume's edge.
function paintGreys(context, study, view, plane, greys, sx, sy) {
  const picture = greyPicture(study, view, plane, greys);
  const width = picture.width * study.step[plane.right] * sx;
  const height = picture.height * study.step[plane.down] * sy;
  const top = plane.upward ? study.size[plane.down] * sy - height : 0;
  context.imageSmoothingEnabled = true;
  context.drawImage(picture, 0, top, width, height);
}

function paintRegion(context, path, mode, color, dashes, thickness) {
  context.save();
  context.fillStyle = context.strokeStyle = color;
  if (mode === "fill") {
    context.globalAlpha = 0.45;
    context.fill(path, "evenodd");
  } else {
    context.lineWidth = 3.6 * thickness;  // dark below: visible on any grey
    context.strokeStyle = "rgba(0, 0, 0, .45)";
    context.stroke(path);
    context.lineWidth = 2 * thickness;
    context.strokeStyle = color;
    context.setLineDash(dashes.map((n) => n * thickness));
    context.stroke(path);
  }
  context.restore();
}

// Returns masks of false negatives and false positives over all shown regions.
function errorMasks(regions, truth, prediction) {
  const missed = new Uint8Array(truth.length), extra = new Uint8Array(truth.length);
  for (const { labels } of regions) {
    const member = membership(labels);
    for (let i = 0; i < truth.length; ++i) {
      const expected = member[truth[i]], found = member[prediction[i]];
      if (expected && !found) missed[i] = 1;
      if (found && !expected) extra[i] = 1;
    }
  }
  return { missed, false: extra };
}

function paintLabels(context, study, view, plane, volumes, sx, sy, thickness) {
  const shown = study.regions.filter((region) => !view.hidden.has(region.name));
  const cut = (bytes) => bytes && sliceOf(bytes, study.size, plane, view.at[plane.normal]);
  const truth = cut(volumes.truth), prediction = cut(volumes.prediction);
  const { width, height } = prediction;
  if (view.errors && truth) {
    const masks = errorMasks(shown, truth.bytes, prediction.bytes);
    for (const kind of ["missed", "false"])
      paintRegion(context, outline(masks[kind], width, height, sx, sy), "fill", view.colors[kind], [], thickness);
  }
  const layers = [
    { slice: prediction, mode: view.prediction, dashes: [] },
    { slice: truth, mode: view.truth, dashes: [5, 3] },
  ];
  for (const { slice, mode, dashes } of layers) {
    if (!slice || mode === "off" || (mode === "fill" && view.errors && truth)) continue; // errors are fills too
    for (const region of shown) {
      const member = membership(region.labels);
      const mask = slice.bytes.map((byte) => member[byte]);
      paintRegion(context, outline(mask, width, height, sx, sy), mode, region.color, dashes, thickness);
    }
  }
}

function paintMarks(context, study, view, plane, sx, sy, thickness) {
  const { width, height } = context.canvas;
  const x = (view.at[plane.right] + 0.5) * sx;
  const down = plane.upward ? study.size[plane.down] - 1 - view.at[plane.down] : view.at[plane.down];
  const y = (down + 0.5) * sy, gap = 9 * thickness;
  context.strokeStyle = "rgba(255, 255, 255, .45)";
  context.lineWidth = thickness;
  context.beginPath();
  for (const [x0, y0, x1, y1] of [[0, y, x - gap, y], [x + gap, y, width, y], [x, 0, x, y - gap], [x, y + gap, x, height]]) {
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
  }
  context.stroke();
  if (study.flat) return;
  context.shadowColor = "#000";
  context.shadowBlur = 3 * thickness;
  context.font = `${12 * thickness}px Helvetica, Arial, sans-serif`;
  context.fillStyle = "#e8e8e8";
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillText(plane.sides[0], 5 * thickness, height / 2);
  context.textAlign = "right";
  context.fillText(plane.sides[1], width - 5 * thickness, height / 2);
}

// Paints a plane on its canvas, whose size is in CSS pixels; `volumes` has greys, truth (or null) and
// prediction.
function paintPlane(canvas, study, view, plane, volumes) {
  const thickness = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * thickness));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * thickness));
  const context = canvas.getContext("2d");
  const sx = canvas.width / study.size[plane.right], sy = canvas.height / study.size[plane.down];
  context.fillStyle = "#000";
  context.fillRect(0, 0, canvas.width, canvas.height);
  paintGreys(context, study, view, plane, volumes.greys, sx, sy);
  paintLabels(context, study, view, plane, volumes, sx, sy, thickness);
  paintMarks(context, study, view, plane, sx, sy, thickness);
}
