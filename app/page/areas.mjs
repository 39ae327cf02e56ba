// Painting what lies under the data: regions between lines, the area below a line of
// closes, and the bars of profiles.
import { usable } from './format.mjs';
import { areaInk, toneInk } from './inks.mjs';
import { faded, look } from './look.mjs';
import { barX } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';

/** between returns where on the way from bar to bar two series cross, 0 to 1, given
 * their differences there. */
function between(a, b) {
  return a / (a - b);
}

/** paintAreas draws the profiles and fills of a pane. */
export function paintAreas(c, pane) {
  const { p } = c;
  let base = 'profile';
  for (const st of pane.studies) {
    if (st.hbars.length > 0) {
      paintProfile(c, pane, st.hbars, base);
      base = 'osc'; // of a second one
    }
    for (const f of st.fills) {
      const above = areaInk(st, f.tone);
      paintFill(c, pane, f.y1.concat(f.ahead1), f.y2.concat(f.ahead2), above, f.below ? areaInk(st, f.below) : above);
    }
  }
  if (pane.price && p.kind === 'area') paintBelow(c, pane);
}

const mostProfile = 0.3; // of the plot that the longest profile bar may take

/** paintProfile draws horizontal bars from either edge; base is the ink of those
 * without a meaning of their own. */
function paintProfile(c, pane, bars, base) {
  const { p, ctx } = c;
  let longest = 1e-9;
  for (const b of bars) if (usable(b.width + b.offset)) longest = Math.max(longest, b.width + b.offset);
  const unit = p.axisX * Math.min(1, mostProfile / longest);
  for (const b of bars) {
    if (!usable(b.y) || !usable(b.height) || !(b.width > 0) || !(b.offset >= 0)) continue;
    const top = rowOf(pane.scale, b.y + b.height / 2);
    let bottom = rowOf(pane.scale, b.y - b.height / 2);
    if (bottom - top >= 3) bottom--; // a gap between neighbours
    const from = Math.floor(b.offset * unit + 0.5);
    const width = Math.max(Math.floor((b.offset + b.width) * unit + 0.5), from + 1) - from;
    const level = b.tone === 'accent' ? 'poc' : b.strong ? 'strong' : 'weak';
    const ink = b.tone === 'band' || b.tone === 'muted' ? base : toneInk(b.tone, base);
    ctx.fillStyle = faded(c.colours[ink], look.levels[level]);
    ctx.fillRect(b.left ? from : p.axisX - from - width, top, width, Math.max(bottom - top, 1));
  }
}

/** paintFill shades the region between two series and changes its ink exactly where
 * they cross. */
function paintFill(c, pane, y1, y2, above, below) {
  const { p, ctx } = c;
  const end = Math.min(y1.length, y2.length, Math.ceil(p.window.end) + 1);
  const paths = { [above]: new Path2D(), [below]: new Path2D() };
  const y = v => yOf(pane.scale, v);
  const piece = (ink, points) => {
    const path = paths[ink];
    path.moveTo(...points[0]);
    for (const point of points.slice(1)) path.lineTo(...point);
    path.closePath();
  };
  for (let i = Math.max(0, p.i0 - 1); i + 1 < end; i++) {
    const [a1, a2, b1, b2] = [y1[i], y2[i], y1[i + 1], y2[i + 1]];
    if (!usable(a1) || !usable(a2) || !usable(b1) || !usable(b2)) continue;
    const [xa, xb] = [barX(p, i), barX(p, i + 1)];
    const inkA = a1 >= a2 ? above : below;
    const inkB = b1 >= b2 ? above : below;
    if (inkA === inkB) {
      piece(inkA, [[xa, y(a1)], [xb, y(b1)], [xb, y(b2)], [xa, y(a2)]]);
      continue;
    }
    const t = between(a1 - a2, b1 - b2);
    const cross = [xa + t * (xb - xa), y(a1) + t * (y(b1) - y(a1))];
    piece(inkA, [[xa, y(a1)], cross, [xa, y(a2)]]);
    piece(inkB, [[xb, y(b1)], cross, [xb, y(b2)]]);
  }
  for (const [ink, path] of Object.entries(paths)) {
    ctx.fillStyle = faded(c.colours[ink], look.levels.fill);
    ctx.fill(path);
  }
}

/** paintBelow shades what lies below the line of closes. */
function paintBelow(c, pane) {
  const { p, ctx } = c;
  ctx.fillStyle = faded(c.colours.profile, look.levels.fill);
  ctx.beginPath();
  ctx.moveTo(barX(p, p.i0), pane.floor);
  for (let i = p.i0; i < p.i1; i++) if (p.data.valid[i]) ctx.lineTo(barX(p, i), yOf(pane.scale, p.data.close[i]));
  ctx.lineTo(barX(p, p.i1 - 1), pane.floor);
  ctx.fill();
}
