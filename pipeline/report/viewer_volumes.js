// Volumes of the slice viewer: decompressed on first use, cut into slices, outlined.
// One of the files that page_viewer.cpp concatenates in order of their dependencies.

// Anatomical planes in radiological view (slice_view.h): axes of the volume, which is in the frame
// left, posterior, superior, and the sides of the patient.
const planes = [
  { name: "axial", normal: 2, right: 0, down: 1, upward: false, sides: ["R", "L"] },
  { name: "coronal", normal: 1, right: 0, down: 2, upward: true, sides: ["R", "L"] },
  { name: "sagittal", normal: 0, right: 1, down: 2, upward: true, sides: ["A", "P"] },
];

const kept = 32; // number of volumes kept decompressed
const unpacked = new Map();

async function unpack(id) {
  const text = document.getElementById(id).textContent;
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Returns the bytes of a volume; the most recently used ones are cached.
function volume(id) {
  if (id === null) return Promise.resolve(null);
  const bytes = unpacked.get(id) || unpack(id);
  unpacked.delete(id);
  unpacked.set(id, bytes);
  if (unpacked.size > kept) unpacked.delete(unpacked.keys().next().value);
  return bytes;
}

// Returns a slice across the plane's normal as rows of bytes, in the plane's orientation.
function sliceOf(bytes, size, plane, at) {
  const stride = [1, size[0], size[0] * size[1]];
  const width = size[plane.right], height = size[plane.down];
  const slice = new Uint8Array(width * height);
  for (let v = 0; v < height; ++v) {
    const along = plane.upward ? height - 1 - v : v;
    let from = at * stride[plane.normal] + along * stride[plane.down];
    for (let u = 0; u < width; ++u, from += stride[plane.right]) slice[v * width + u] = bytes[from];
  }
  return { width, height, bytes: slice };
}

// Returns, for each byte value, whether it is in `labels`.
function membership(labels) {
  const table = new Uint8Array(256);
  for (const label of labels) table[label] = 1;
  return table;
}

// Returns the slice with the most labelled voxels along each axis, or the middle one if there are none.
function fullestSlices(bytes, size) {
  const counts = size.map((n) => new Float64Array(n));
  let i = 0;
  for (let z = 0; z < size[2]; ++z)
    for (let y = 0; y < size[1]; ++y)
      for (let x = 0; x < size[0]; ++x) {
        if (bytes[i++] === 0) continue;
        ++counts[0][x];
        ++counts[1][y];
        ++counts[2][z];
      }
  return counts.map((of) => {
    let most = -1, at = of.length >> 1;
    for (let k = 0; k < of.length; ++k) if (of[k] > 0 && of[k] > most) most = of[(at = k)];
    return at;
  });
}

// Closed contours around the ones of a mask, along pixel edges, in pixels. Edges are followed with the inside on their
// right; where two pixels touch only at a corner, the contour stays on its pixel.
function contours(mask, width, height) {
  const inside = (x, y) => x >= 0 && y >= 0 && x < width && y < height && mask[y * width + x] !== 0;
  const corner = (x, y) => y * (width + 1) + x;
  const from = new Map(); // corner -> the end corners of the edges that start there
  const add = (x0, y0, x1, y1) => {
    const start = corner(x0, y0), ends = from.get(start);
    if (ends) ends.push(corner(x1, y1));
    else from.set(start, [corner(x1, y1)]);
  };
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) {
      if (!inside(x, y)) continue;
      if (!inside(x, y - 1)) add(x, y, x + 1, y);
      if (!inside(x + 1, y)) add(x + 1, y, x + 1, y + 1);
      if (!inside(x, y + 1)) add(x + 1, y + 1, x, y + 1);
      if (!inside(x - 1, y)) add(x, y + 1, x, y);
    }
  const turned = (step) => (Math.abs(step) === 1 ? step * (width + 1) : -Math.sign(step)); // to the right
  const lines = [];
  while (from.size > 0) {
    const [start] = from.keys();
    const line = [];
    let at = start, step = 0;
    do {
      const ends = from.get(at);
      const chosen = Math.max(0, ends.indexOf(at + turned(step)));
      const [end] = ends.splice(ends.length > 1 ? chosen : 0, 1);
      if (ends.length === 0) from.delete(at);
      if (end - at !== step) line.push([at % (width + 1), Math.floor(at / (width + 1))]);
      step = end - at;
      at = end;
    } while (at !== start);
    lines.push(line);
  }
  return lines;
}

// Returns the contours as a path, with `sx` by `sy` points per pixel.
function outline(mask, width, height, sx, sy) {
  const path = new Path2D();
  for (const line of contours(mask, width, height)) {
    line.forEach(([x, y], i) => (i === 0 ? path.moveTo(x * sx, y * sy) : path.lineTo(x * sx, y * sy)));
    path.closePath();
  }
  return path;
}
