// Painting what lies under the data: regions between lines, shaded bars, the caller's
// zones, the area below a line of closes, and the bars of profiles.
import { usable } from './format.mjs';
import { areaInk, toneInk } from './inks.mjs';
import { faded, look } from './look.mjs';
import { zoneBox } from './marks.mjs';
import { barX } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';

/** paintAreas draws what lies at the bottom of a pane. */
export function paintAreas(c, pane) {
  const { p } = c;
  let [profile, shade] = ['profile', 'fill'];
  for (const st of pane.studies) {
    if (st.shaded.length > 0) {
      for (const { from, to } of st.shaded) paintStretch(c, pane, from, to + 1, shade);
      shade = 'osc'; // of a second one
    }
    if (st.hbars.length > 0) {
      paintProfile(c, pane, st.hbars, profile);
      profile = 'osc';
    }
    for (const f of st.fills) {
      const above = areaInk(st, f.tone);
      const step = st.lines.some(l => l.tone === f.tone && l.style === 'step');
      paintFill(c, pane, f, above, f.below ? areaInk(st, f.below) : above, step);
    }
  }
  if (!pane.price) return;
  for (const k of p.marks.filter(k => k.type === 'zone')) {
    const [left, top, right, bottom] = zoneBox(p, pane, k);
    tint(c, toneInk(k.color, 'amber'), 'weak', left, top, right - left, bottom - top);
  }
  if (p.kind === 'area') paintBelow(c, pane);
}

/** tint lays an ink over a box at one of the levels of transparency. */
function tint({ ctx, colours }, ink, level, x, y, w, h) {
  ctx.fillStyle = faded(colours[ink], look.levels[level]);
  ctx.fillRect(x, y, w, h);
}

/** paintStretch shades bars from top to bottom. */
function paintStretch(c, pane, from, to, ink) {
  const { p } = c;
  if (to <= p.i0 || from >= p.i1) return;
  const left = Math.trunc(p.x0 + from * p.pitch);
  tint(c, ink, 'fill', left, pane.y, Math.max(1, Math.trunc(p.x0 + to * p.pitch) - left), pane.end - pane.y);
}

const mostProfile = 0.3; // of the plot that the longest profile bar may take

/** paintProfile draws horizontal bars from either edge; base is the ink of those
 * without a meaning of their own. */
function paintProfile(c, pane, bars, base) {
  const { p } = c;
  const longest = Math.max(1e-9, ...bars.map(b => b.width + b.offset).filter(usable));
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
    tint(c, ink, level, b.left ? from : p.axisX - from - width, top, width, Math.max(bottom - top, 1));
  }
}

/** paintFill shades the region between two series and changes its ink exactly where
 * they cross. Steps hold a bar's values over its whole width. */
function paintFill(c, pane, { y1, y2 }, above, below, step) {
  const { p, ctx } = c;
  const end = Math.min(y1.length, y2.length, Math.ceil(p.window.end) + 1);
  const paths = { [above]: new Path2D(), [below]: new Path2D() };
  const y = v => yOf(pane.scale, v);
  const piece = (ink, first, ...rest) => {
    paths[ink].moveTo(...first);
    for (const point of rest) paths[ink].lineTo(...point);
    paths[ink].closePath();
  };
  for (let i = Math.max(0, p.i0 - 1); i + 1 < end; i++) {
    const next = step ? i : i + 1;
    const [a1, a2, b1, b2] = [y1[i], y2[i], y1[next], y2[next]];
    if (!usable(a1) || !usable(a2) || !usable(b1) || !usable(b2)) continue;
    const [xa, xb] = step ? [p.x0 + i * p.pitch, p.x0 + (i + 1) * p.pitch] : [barX(p, i), barX(p, i + 1)];
    const inkA = a1 >= a2 ? above : below;
    const inkB = b1 >= b2 ? above : below;
    if (inkA === inkB) {
      piece(inkA, [xa, y(a1)], [xb, y(b1)], [xb, y(b2)], [xa, y(a2)]);
      continue;
    }
    const t = (a1 - a2) / (a1 - a2 - (b1 - b2)); // where on the way they cross
    const cross = [xa + t * (xb - xa), y(a1) + t * (y(b1) - y(a1))];
    piece(inkA, [xa, y(a1)], cross, [xa, y(a2)]);
    piece(inkB, [xb, y(b1)], cross, [xb, y(b2)]);
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
  for (let i = p.i0; i < p.i1; i++) ctx.lineTo(barX(p, i), yOf(pane.scale, p.data.close[i]));
  ctx.lineTo(barX(p, p.i1 - 1), pane.floor);
  ctx.fill();
}
