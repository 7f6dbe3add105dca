// Flame graph and icicle of the call tree, top-down or inverted.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isReport, useData } from '../api';
import { askedFor, askedOptions } from '../asked';
import { Failed, Waiting } from '../boundary';
import { colorOfKind, colorOfName, css, flameColor, type Rgb } from '../colors';
import { FlameCanvas, FlameMap } from '../flamecanvas';
import { boxAround, cutText, layOut, rangeOf, WHOLE, type Range } from '../flamelayout';
import { exactValue, formatCount, formatPercent, formatValue, plural } from '../format';
import { useKeys } from '../keys';
import { openMenu, type MenuEntry } from '../menu';
import { navigate, select, selectionPatch, useScreen } from '../state';
import { useTheme } from '../theme';
import { copyText } from '../toast';
import { commandLine, type Screen, type ScreenProps } from './screen';
import { finder } from './tree-data';

export interface FlameAnswer {
  metric: string;
  unit: string | null;
  total: number;
  n_frames: number;
  n_minus: number;
  /** There is no room for more levels. */
  n_levels?: number;
  search?: { n: number; value: number };
  above: { node: number[]; name: (string | null)[]; value: (number | null)[] };
  names: string[];
  node: (number | null)[];
  parent: number[];
  context?: (number | null)[];
  name: (number | null)[];
  value: number[];
  own: number[];
  module: (number | null)[];
  kind: (number | null)[];
  rest: number[];
  found?: number[];
}

const DEFAULTS = { up: false, view: 'top-down', order: 'size', colors: '', root: -1 };
const WIDTHS = [1600, 3200, 6400, 12800, 20000];
const LEGEND = 7;

/** What the picture needs of an answer, ready to be drawn. */
function pictureOf(data: FlameAnswer) {
  const text = (i: number | null | undefined): string => (i === null || i === undefined ? '' : (data.names[i] ?? ''));
  const key = (i: number): string =>
    data.node[i] === null ? `${data.rest[i] ? 'rest' : 'all'} ${data.rest[i] ? i : ''}` : String(data.node[i]);
  return {
    data,
    boxes: layOut(data.parent, data.value),
    name: (i: number): string =>
      data.rest[i]
        ? `… ${formatCount(data.rest[i]!)} more`
        : data.name[i] === null
          ? i === 0 && data.node[0] === null
            ? 'all'
            : '(no name)'
          : text(data.name[i]) || '(no name)',
    module: (i: number): string => text(data.module[i]),
    kind: (i: number): string => text(data.kind[i]),
    key,
    indexOf: new Map(data.node.map((node, i) => [node, i])),
    indexOfKey: new Map(data.node.map((_, i) => [key(i), i])),
  };
}
type Picture = ReturnType<typeof pictureOf>;

const GREY: Record<'dark' | 'light', Rgb> = { dark: [60, 64, 72], light: [222, 225, 230] };

function colorsOf(picture: Picture, by: string): (i: number, isDark: boolean) => Rgb {
  const known = new Map<string, Rgb>();
  return (i, isDark) => {
    const { data } = picture;
    if (data.rest[i] || data.name[i] === null) return GREY[isDark ? 'dark' : 'light'];
    const which = by === 'name' ? data.name[i] : by === 'kind' ? data.kind[i] : data.module[i];
    const key = `${isDark ? 'd' : 'l'}${which ?? ''}`;
    let color = known.get(key);
    if (!color) {
      const text = which === null || which === undefined ? '' : data.names[which]!;
      color =
        text === ''
          ? GREY[isDark ? 'dark' : 'light']
          : by === 'name'
            ? flameColor(text, isDark)
            : by === 'kind'
              ? colorOfKind(text, isDark)
              : colorOfName(text, isDark);
      known.set(key, color);
    }
    return color;
  };
}

/** The modules or kinds that have most, with their colours. */
function legendOf(picture: Picture, by: string): { name: string; share: number; i: number }[] {
  if (by === 'name') return [];
  const sums = new Map<string, { name: string; share: number; i: number }>();
  const { data } = picture;
  const whole = data.value[0] || 1;
  for (let i = 0; i < data.node.length; i++) {
    const name = by === 'kind' ? picture.kind(i) : picture.module(i);
    if (name === '' || data.own[i]! <= 0) continue;
    const entry = sums.get(name) ?? { name, share: 0, i };
    entry.share += data.own[i]! / whole;
    sums.set(name, entry);
  }
  return [...sums.values()].sort((a, b) => b.share - a.share).slice(0, LEGEND);
}

/** What a report can say of a search: among the boxes that it has, each stack once. */
function findHere({ data, name }: Picture, text: string): { found: number[]; search: { n: number; value: number } } {
  const isMatch = finder(text);
  const found = data.node.map((node, i) => (node !== null && isMatch(name(i)) ? 1 : 0));
  const inside: boolean[] = [];
  const search = { n: 0, value: 0 };
  found.forEach((is, i) => {
    const parent = data.parent[i]!;
    inside[i] = is === 1 || (parent >= 0 && inside[parent]!);
    search.n += is;
    if (is && !(parent >= 0 && inside[parent])) search.value += data.value[i]!;
  });
  return { found, search };
}

const shortModule = (name: string): string => name.replace(/^.*\/(?=[^/]+$)/, '');

function Details({ picture, i, isInverted }: { picture: Picture; i: number; isInverted: boolean }) {
  const { data } = picture;
  const value = data.value[i]!;
  const parent = data.parent[i]!;
  const share = (of: number) => `${formatPercent(value / of)} %`;
  return (
    <>
      <div class="tip-title">{picture.name(i)}</div>
      <div>
        <b>{formatValue(data.unit, value)}</b>
        {`  ${share(data.total)} of all`}
        {parent >= 0 &&
          value !== data.value[parent] &&
          `, ${share(data.value[parent]!)} of ${parent === 0 && data.node[0] === null ? 'it' : picture.name(parent)}`}
      </div>
      {data.rest[i] === 0 && (
        <div class="hint">{`${isInverted ? 'not called further' : 'itself'}: ${exactValue(data.unit, data.own[i])}`}</div>
      )}
      <div class="hint">{`exact: ${exactValue(data.unit, value)}`}</div>
      {(picture.module(i) || picture.kind(i)) && (
        <div class="hint">{[picture.kind(i), picture.module(i)].filter(Boolean).join(' · ')}</div>
      )}
    </>
  );
}

/** Names from the outermost to the box. */
function pathOf(picture: Picture, i: number): string[] {
  const names: string[] = [];
  for (let at = i; at >= 0; at = picture.data.parent[at]!)
    if (picture.data.node[at] !== null) names.push(picture.name(at));
  return [...picture.data.above.name.map((n) => n ?? ''), ...names.reverse()];
}

function Crumbs({ picture, onRoot }: { picture: Picture; onRoot: (node: number) => void }) {
  const { above, node } = picture.data;
  if (node[0] === null) return null;
  const many = above.node.length > 5;
  const shown = above.node
    .map((n, i) => ({ n, name: above.name[i] ?? '(no name)' }))
    .filter((_, i) => !many || i < 2 || i >= above.node.length - 3);
  return (
    <nav class="crumbs" aria-label="Where the picture begins">
      <button class="quiet" onClick={() => onRoot(-1)}>
        all
      </button>
      {shown.map(({ n, name }, i) => (
        <span key={n}>
          {many && i === 2 && <span class="hint"> › …</span>}
          <span class="hint"> › </span>
          <button class="quiet ellipsis" title={name} onClick={() => onRoot(n)}>
            {name}
          </button>
        </span>
      ))}
      <span class="hint"> › </span>
      <b class="ellipsis">{picture.name(0)}</b>
    </nav>
  );
}

function Flame(props: ScreenProps) {
  const { selection } = props;
  const [view, setView] = useScreen('flame', DEFAULTS);
  const { isDark } = useTheme();
  const [zoom, setZoom] = useState(0); // index into WIDTHS
  const [seen, setSeen] = useState<Range>(WHOLE);
  const [resets, setResets] = useState(0);
  const isInverted = view.view === 'inverted';
  const match = selection.search.trim();
  const shared = {
    ...askedFor(props),
    ...(isInverted ? { view: 'inverted' } : {}),
    ...(view.order === 'source' ? { order: 'source' } : {}),
    ...(match && !isReport() ? { match } : {}),
  };
  const wantsRoot = view.root >= 0 && !isReport();
  const whole = useData<FlameAnswer>('flame', shared);
  const part = useData<FlameAnswer>(wantsRoot || zoom > 0 ? 'flame' : null, {
    ...shared,
    ...(wantsRoot ? { root: view.root } : {}),
    ...(zoom > 0 ? { width: WIDTHS[zoom] } : {}),
  });
  const answer = wantsRoot || zoom > 0 ? (part.data ?? whole.data) : whole.data;
  const error = wantsRoot && part.error ? part.error : whole.error;
  const picture = useMemo(() => {
    if (!answer) return null;
    const made = pictureOf(answer);
    return match && isReport() ? pictureOf({ ...answer, ...findHere(made, match) }) : made;
  }, [answer, match]);
  const map = useMemo(() => (whole.data ? pictureOf(whole.data) : null), [whole.data]);
  // Without modules, all would be grey
  const colors = view.colors || (whole.data?.module.every((m) => m === null) ? 'name' : 'module');
  const color = useMemo(() => (picture ? colorsOf(picture, colors) : null), [picture, colors]);
  const mapColor = useMemo(() => (map ? colorsOf(map, colors) : null), [map, colors]);
  const legend = useMemo(() => (picture ? legendOf(picture, colors) : []), [picture, colors]);
  const isDimmed = useMemo(
    () => (picture?.data.found && match ? (i: number) => !picture.data.found![i] : undefined),
    [picture, match],
  );
  const above = useMemo(
    () =>
      picture && picture.data.node[0] !== null ? ['all', ...picture.data.above.name.map((n) => n ?? '(no name)')] : [],
    [picture],
  );

  // The frame of the context that is chosen elsewhere: its own, or one that has it among others
  const direct =
    picture && selection.node !== null
      ? isInverted
        ? (picture.data.context?.indexOf(selection.node) ?? -1)
        : (picture.indexOf.get(selection.node) ?? -1)
      : -1;
  const frame = useData<FlameAnswer>(
    picture && selection.node !== null && direct < 0 && !isInverted && !isReport() ? 'flame' : null,
    { ...askedFor(props), root: selection.node, width: 1 },
  );
  const picked = useRef<{ key: string; context: number | null } | null>(null);
  let selected =
    direct >= 0 ? direct : frame.data && picture ? (picture.indexOf.get(frame.data.node[0] ?? null) ?? -1) : -1;
  if (picture && picked.current && picked.current.context === selection.node)
    selected = picture.indexOfKey.get(picked.current.key) ?? selected;

  const contextOf = (i: number): number | null =>
    picture ? ((picture.data.context ? picture.data.context[i] : picture.data.node[i]) ?? null) : null;
  const choose = (i: number) => {
    if (!picture) return;
    picked.current = { key: picture.key(i), context: contextOf(i) };
    select({ node: contextOf(i) }, 'replace');
  };
  const setRoot = (node: number) => {
    setZoom(0);
    setSeen(WHOLE);
    setResets((n) => n + 1);
    setView({ root: node });
  };
  const zoomTo = (i: number) => {
    if (!picture) return;
    if (picture.data.rest[i]) return setRoot(picture.data.node[picture.data.parent[i]!] ?? -1);
    const node = picture.data.node[i] ?? -1;
    if (i === 0 && node === view.root) return out();
    setRoot(node);
  };
  const out = () => {
    if (seen.to - seen.from < 1) {
      setSeen(WHOLE);
      setZoom(0);
      return setResets((n) => n + 1);
    }
    const chain = picture?.data.above.node ?? [];
    if (view.root >= 0) setRoot(chain[chain.length - 1] ?? -1);
  };
  // Wheel: after a moment, ask for the detail that is in sight
  const settle = useRef(0);
  const onRange = (range: Range) => {
    setSeen(range);
    clearTimeout(settle.current);
    settle.current = window.setTimeout(() => {
      if (!picture || isReport()) return;
      const factor = 1 / Math.max(1e-9, range.to - range.from);
      const around = boxAround(picture.boxes, range.from, range.to);
      const node = picture.data.node[around] ?? null;
      if (around > 0 && node !== null && (range.to - range.from) / picture.boxes.width[around]! > 0.9)
        return setRoot(node);
      setZoom(
        Math.max(
          0,
          WIDTHS.findIndex((w, k) => w >= 1600 * factor || k === WIDTHS.length - 1),
        ),
      );
    }, 250);
  };
  useEffect(() => () => clearTimeout(settle.current), []);
  useEffect(() => {
    setZoom(0);
    setSeen(WHOLE);
  }, [props.input.id, props.metric?.name, isInverted]);

  const toggle = (patch: Partial<typeof view>) => {
    setZoom(0);
    setView(patch);
  };
  const invert = () => toggle({ view: isInverted ? 'top-down' : 'inverted', root: -1 });
  const COLORS = ['module', 'kind', 'name'];
  useKeys('Flame', [
    { key: 'i', label: 'Icicle or flame', run: () => toggle({ up: !view.up }) },
    { key: 'b', label: 'Inverted: innermost functions first', run: invert },
    {
      key: 'o',
      label: 'Order: by size or as in the source',
      run: () => toggle({ order: view.order === 'size' ? 'source' : 'size' }),
    },
    {
      key: 'c',
      label: 'Colours by module, kind or name',
      run: () => toggle({ colors: COLORS[(COLORS.indexOf(colors) + 1) % 3]! }),
    },
    { key: 'Escape', label: 'Zoom one step out', run: out },
    { key: 'Home', label: 'The whole again', run: () => setRoot(-1) },
    {
      key: 'ArrowDown',
      label: 'Into the picture: arrows move, Enter zooms',
      run: () => document.querySelector<HTMLElement>('.flame-box canvas')?.focus(),
    },
  ]);

  if (error && !picture) {
    // Most likely a quotient: nothing is broken, another metric is what helps
    const main = props.input.metrics.find((m) => m.is_main);
    if (!main || main === props.metric) return <Failed failure={error} />;
    return (
      <div class="message">
        <p>{error.message}</p>
        <button onClick={() => select({ metric: main.name })}>{main.display_name || main.name}</button>
      </div>
    );
  }
  if (!picture || !color) return <Waiting />;
  const { data, boxes } = picture;
  if (data.total <= 0)
    return <div class="message">{`There is nothing of ${data.metric} here: no stack has more than 0.`}</div>;
  const focus = view.root >= 0 && data.node[0] !== view.root ? Math.max(0, picture.indexOf.get(view.root) ?? 0) : 0;
  const menu = (event: MouseEvent, i: number) => {
    const path = pathOf(picture, i);
    const entries: MenuEntry[] = [
      { label: 'Zoom in', hint: 'Enter', run: () => zoomTo(i) },
      { label: 'Zoom out', hint: 'Esc', disabled: view.root < 0, run: out },
      'line',
      {
        label: 'Show in the tree',
        disabled: contextOf(i) === null,
        run: () => navigate(selectionPatch({ node: contextOf(i) }), 'push', 'tree'),
      },
      {
        label: 'Show over locations',
        disabled: contextOf(i) === null || props.input.has.locations < 2,
        run: () => navigate(selectionPatch({ node: contextOf(i) }), 'push', 'locations'),
      },
      { label: 'Search this name', run: () => select({ search: picture.name(i) }) },
      'line',
      { label: 'Copy name', run: () => void copyText(picture.name(i)) },
      {
        label: 'Copy path',
        run: () => void copyText((isInverted ? [...path].reverse() : path).join('->'), 'Path copied'),
      },
      {
        label: 'Copy stack, a line each',
        run: () => void copyText((isInverted ? path : [...path].reverse()).join('\n'), 'Stack copied'),
      },
      { label: 'Copy value', run: () => void copyText(exactValue(data.unit, data.value[i])) },
    ];
    openMenu(event, entries);
  };
  // Where the picture lies in the whole, as far as that shows it
  const rootBox =
    data.node[0] === null
      ? 0
      : ([data.node[0]!, ...[...data.above.node].reverse()].map((n) => map?.indexOf.get(n) ?? -1).find((i) => i >= 0) ??
        0);
  const rootRange = map ? rangeOf(map.boxes, rootBox) : WHOLE;
  const width = rootRange.to - rootRange.from;
  const mapRange = { from: rootRange.from + seen.from * width, to: rootRange.from + seen.to * width };
  const said =
    selected >= 0
      ? `${picture.name(selected)}: ${formatValue(data.unit, data.value[selected])}, ${formatPercent(data.value[selected]! / data.total)} % of all`
      : '';
  return (
    <div class="fill">
      <div class="toolbar">
        <div class="segmented" role="group" aria-label="Direction">
          <button aria-pressed={!view.up} title="From the top down (i)" onClick={() => toggle({ up: false })}>
            Icicle
          </button>
          <button aria-pressed={view.up} title="From the bottom up (i)" onClick={() => toggle({ up: true })}>
            Flame
          </button>
        </div>
        <div class="segmented" role="group" aria-label="View">
          <button aria-pressed={!isInverted} title="Callers above callees (b)" onClick={() => isInverted && invert()}>
            Top-down
          </button>
          <button
            aria-pressed={isInverted}
            title="Innermost functions first, below them who called (b)"
            onClick={() => !isInverted && invert()}
          >
            Inverted
          </button>
        </div>
        <div class="segmented" role="group" aria-label="Order">
          <button
            aria-pressed={view.order === 'size'}
            title="The largest first (o)"
            onClick={() => toggle({ order: 'size' })}
          >
            By size
          </button>
          <button
            aria-pressed={view.order !== 'size'}
            title="As in the source (o)"
            onClick={() => toggle({ order: 'source' })}
          >
            In order
          </button>
        </div>
        <div class="segmented" role="group" aria-label="Colours">
          {COLORS.map((by) => (
            <button
              key={by}
              aria-pressed={colors === by}
              title={`Colours by ${by} (c)`}
              onClick={() => toggle({ colors: by })}
            >
              {by[0]!.toUpperCase() + by.slice(1)}
            </button>
          ))}
        </div>
        <span class="grow" />
        {data.search && (
          <span role="status" class="flame-found">
            <b>{`${formatPercent(data.search.value / data.total)} %`}</b>
            {` ${formatValue(data.unit, data.search.value)} in ${plural(data.search.n, 'frame')}`}
          </span>
        )}
        {!data.search && (
          <span class="hint">{`${formatValue(data.unit, data.total)} in ${plural(data.n_frames, 'frame')}`}</span>
        )}
      </div>
      {map && mapColor && map.boxes.levels.length > 1 && (
        <FlameMap
          boxes={map.boxes}
          color={mapColor}
          shown={mapRange}
          isUpward={view.up}
          onPick={(i) =>
            setRoot(map.data.rest[i] ? (map.data.node[map.data.parent[i]!] ?? -1) : (map.data.node[i] ?? -1))
          }
        />
      )}
      <Crumbs picture={picture} onRoot={setRoot} />
      <FlameCanvas
        key={`${props.input.id} ${data.metric} ${view.view}`}
        boxes={boxes}
        keyOf={picture.key}
        name={picture.name}
        color={color}
        isDimmed={isDimmed}
        above={above}
        onAbove={(i) => setRoot(data.above.node[i - 1] ?? -1)}
        isUpward={view.up}
        selected={selected}
        onSelect={choose}
        onZoom={zoomTo}
        onOut={out}
        onMenu={menu}
        onRange={onRange}
        focus={focus}
        resets={resets}
        tooltip={(i) => <Details picture={picture} i={i} isInverted={isInverted} />}
        label={`${view.up ? 'Flame graph' : 'Icicle'} of ${data.metric}, ${isInverted ? 'innermost functions first' : 'callers above callees'}: ${plural(data.n_frames, 'frame')}`}
      />
      <div class="statusbar">
        <span class="ellipsis grow" role="status" aria-live="polite">
          {said || 'A click looks at a frame alone; arrows, Enter and Esc move through the picture.'}
        </span>
        {data.n_levels && <span class="hint">{cutText(data.n_levels)}</span>}
        {data.n_minus > 0 && (
          <span class="hint">{`${plural(data.n_minus, 'frame')} below 0 or no number: without width`}</span>
        )}
        <span class="legend" aria-hidden="true">
          {legend.map((entry) => (
            <span key={entry.name} title={`${entry.name}: ${formatPercent(entry.share)} %`}>
              <i style={{ background: css(color(entry.i, isDark)) }} />
              {shortModule(entry.name)}
            </span>
          ))}
        </span>
      </div>
    </div>
  );
}

export const flame: Screen = {
  id: 'flame',
  title: 'Flame',
  key: 'f',
  available: (_, input) => input.has.tree,
  component: Flame,
  command: (props) => commandLine('flame', [props.input.path], { folded: true, ...askedOptions(props) }),
};
