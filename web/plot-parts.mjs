// An esbuild plugin: of uPlot only what plots of this page use. Axes of dates, the legend, asinh scales, modes with two x axes, linked plots,
// stepped, barred and curved paths are a quarter of it, and hang on few conditions, which are set here; the minifier drops what nobody reaches.
import { readFileSync } from 'node:fs';

const NEVER = ['showLegend', 'legend\\.live', 'isTime', 'cursorFocus', 'multiValLegend', 'mode == 2', 'ms == 1', '(?:sc\\.|scale\\w*\\.)?distr == 4', 'xScaleDistr == 4', 'scaleX\\.time'];
const CUTS = [
  [/\blet isTime = .*;/g, ''],
  [/\bconst (?:showLegend|cursorFocus) = .*;/g, ''],
  [/let multiValLegend = false;/g, ''],
  [/const _(?:tzDate|fmtDate|timeAxisSplits|timeAxisVals|timeSeriesVal) .*\n/g, '\n'],
  [/if \(legend\.live\) \{\n\t\tconst getMultiVals[^]*?\n\t\}\n/g, ''],
  [/\tfunction initLegendRow[^]*?\n\t\}\n/g, ''],
  [/const legendOpts = \{[^]*?\n\};/g, 'const legendOpts = { markers: {}, values: [] };'],
  [/const \[ timeIncrs.*\n/g, ''],
  [/const (?:months|days) = \[[^]*?\];/g, ''],
  [/const engNames = \{[^]*?\};/g, ''],
  [/const (?:days3|months3|localTz) = .*;/g, ''],
  [/\bmarkers\.(?:width|dash|stroke|fill) +=.*;/g, ''],
  [/\bmode == 1\b/g, 'true'],
  ...NEVER.map((condition) => [new RegExp(`\\b${condition}\\b`, 'g'), 'false']),
  [/\nuPlot\.assign = [^]*?\nexport /g, '\nexport '],
];

export const plotParts = {
  name: 'plot-parts',
  setup(build) {
    build.onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8');
      for (const [what, instead] of CUTS) {
        if (contents.search(what) < 0) return { errors: [{ text: `uPlot has no ${what}: see web/plot-parts.mjs` }] };
        contents = contents.replace(what, instead);
      }
      return { contents };
    });
  },
};
