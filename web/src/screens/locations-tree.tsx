// The tree of locations with what each has, as Cube shows its system tree.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { canonical, get, isReport, useData, type Params } from '../api';
import { Failed, Waiting } from '../boundary';
import { roomFor } from '../canvas';
import {
  finiteSize,
  formatCount,
  formatPercent,
  formatQuantity,
  known,
  longestText,
  quantityOf,
  type Num,
} from '../format';
import { select, useScreen } from '../state';
import { toastError } from '../toast';
import { BarCell, TreeCell, VTable, exactly, type Column, type TreeShape } from '../vtable';
import { termOf, type Named } from './locations-words';
import { packOpen, unpackOpen } from './tree-data';

/** at: the chosen location; open, shut: what somebody opened, and closed (packOpen). */
const DEFAULTS = { at: -1, open: '', shut: '' };
const MOST_LOADED = 20000;

interface TreeAnswer {
  unit: string | null;
  adds_up: boolean;
  n_top: number;
  id: number[];
  parent: (number | null)[];
  kind: (string | null)[];
  name: (string | null)[];
  number: (number | null)[];
  n_children: number[];
  places: number[];
  value: Num[];
  mean: Num[];
  min: Num[];
  max: Num[];
  peers: Num[];
}

interface Node {
  id: number;
  parent: number | null;
  named: Named;
  children: number;
  places: number;
  value: Num;
  mean: Num;
  min: Num;
  max: Num;
  /** Of what the largest of its kind has. */
  peers: number | null;
}

function nodesOf(answer: TreeAnswer): Node[] {
  return answer.id.map((id, i) => ({
    id,
    parent: answer.parent[i] ?? null,
    named: { kind: answer.kind[i] ?? '', name: answer.name[i] ?? null, number: answer.number[i] ?? null },
    children: answer.n_children[i]!,
    places: answer.places[i]!,
    value: answer.value[i]!,
    mean: answer.mean[i]!,
    min: answer.min[i]!,
    max: answer.max[i]!,
    peers: known(answer.peers[i]),
  }));
}

const title = ({ named }: Node): string => named.name || `${named.kind || 'place'} ${named.number ?? ''}`.trim();

export function LocationTree({ params }: { params: Params }) {
  const { data, error, loading } = useData<TreeAnswer>('location_tree', params);
  const [view, setView] = useScreen('system', DEFAULTS);
  const [more, setMore] = useState<Map<number | null, Node[]>>(new Map());
  const key = canonical('', params);
  const latest = useRef(key);
  latest.current = key;
  const below = useMemo(() => {
    const map = new Map<number | null, Node[]>();
    for (const node of data ? nodesOf(data) : []) map.set(node.parent, [...(map.get(node.parent) ?? []), node]);
    for (const [parent, nodes] of more) map.set(parent, nodes);
    return map;
  }, [data, more]);
  const [opened, shut] = useMemo(
    () => [new Set(unpackOpen(view.open)), new Set(unpackOpen(view.shut))],
    [view.open, view.shut],
  );
  const isOpen = (id: number) => below.has(id) && !shut.has(id);
  const rows = useMemo(() => {
    const out: { node: Node; level: number; parent: number; among: [number, number] }[] = [];
    const add = (parent: number | null, level: number, at: number) => {
      for (const [i, node] of (below.get(parent) ?? []).entries()) {
        out.push({ node, level, parent: at, among: [i + 1, below.get(parent)!.length] });
        if (isOpen(node.id)) add(node.id, level + 1, out.length - 1);
      }
    };
    add(null, 0, -1);
    return out;
  }, [below, shut]);
  const load = async (id: number | null, total: number) => {
    try {
      const nodes: Node[] = id === null ? [...(below.get(null) ?? [])] : [];
      while (nodes.length < total && nodes.length < MOST_LOADED) {
        const next = nodesOf(
          await get<TreeAnswer>('location_tree', { ...params, parent: id, offset: nodes.length || null }),
        );
        if (next.length === 0) break;
        nodes.push(...next);
      }
      if (latest.current === key) setMore((old) => new Map(old).set(id, nodes));
    } catch (failed) {
      toastError(failed);
    }
  };
  // Another metric has other values of what was opened, too
  useEffect(() => setMore(new Map()), [key]);
  const missing =
    data && !loading && !isReport()
      ? [
          ...(data.n_top > (below.get(null)?.length ?? 0) ? [null] : []),
          ...rows.filter(({ node }) => opened.has(node.id) && !below.has(node.id)).map(({ node }) => node.id),
        ]
      : [];
  useEffect(() => {
    for (const id of missing)
      void load(id, id === null ? data!.n_top : rows.find(({ node }) => node.id === id)!.node.children);
  }, [key, loading, missing.join()]);
  if (error) return <Failed failure={error} />;
  if (!data) return <Waiting />;
  const toggle = (i: number) => {
    const { id } = rows[i]!.node;
    const [nextOpen, nextShut] = [new Set(opened), new Set(shut)];
    if (isOpen(id)) (nextOpen.delete(id), nextShut.add(id));
    else (nextShut.delete(id), nextOpen.add(id));
    setView({ open: nextOpen.size ? packOpen(nextOpen) : '', shut: nextShut.size ? packOpen(nextShut) : '' });
  };
  const tree: TreeShape = {
    level: (i) => rows[i]!.level,
    isExpandable: (i) => rows[i]!.node.children > 0,
    isExpanded: (i) => isOpen(rows[i]!.node.id),
    toggle,
    among: (i) => rows[i]!.among,
    parent: (i) => rows[i]!.parent,
  };
  const largest = Math.max(0, ...(data.adds_up ? data.value : data.max).map(finiteSize));
  const sums = quantityOf(data.unit, largest);
  const most = Math.max(0, ...data.max.map(finiteSize));
  const single = quantityOf(data.unit, most);
  const number = (id: 'mean' | 'min' | 'max', name: string): Column<Node> => ({
    id,
    title: name,
    unit: single.unit,
    width: Math.max(96, roomFor(longestText(single, most))),
    align: 'right',
    cell: (node) => formatQuantity(single, node[id]),
    ...exactly(data.unit, (node: Node) => node[id]),
  });
  const columns: Column<Node>[] = [
    {
      id: 'name',
      title: 'Location',
      width: '2fr',
      fixed: true,
      cell: (node, i) => (
        <TreeCell tree={tree} index={i}>
          {title(node)}
        </TreeCell>
      ),
      text: title,
    },
    {
      id: 'kind',
      title: 'Kind',
      width: 96,
      cell: (node) => <span class="hint">{node.named.kind}</span>,
      text: (node) => node.named.kind,
    },
    {
      id: 'value',
      title: data.adds_up ? 'Sum' : 'Value',
      unit: sums.unit,
      width: Math.max(150, roomFor(longestText(sums, largest))),
      grows: true,
      align: 'right',
      cell: (node) => (
        <BarCell text={formatQuantity(sums, node.value)} share={finiteSize(node.value) / (largest || 1)} />
      ),
      ...exactly(data.unit, (node: Node) => node.value),
    },
    {
      id: 'peers',
      title: '% of peers',
      width: 84,
      align: 'right',
      cell: (node) => <span class="share">{formatPercent(node.peers)}</span>,
      text: (node) => formatPercent(node.peers),
    },
    number('mean', 'Mean'),
    number('min', 'Min'),
    number('max', 'Max'),
    {
      id: 'places',
      title: 'Locations',
      width: 92,
      align: 'right',
      cell: (node) => String(node.places),
      text: (node) => String(node.places),
    },
  ];
  const filterTo = (i: number) => {
    const parts: string[] = [];
    for (let at = i; at >= 0; at = rows[at]!.parent) {
      const { node } = rows[at]!;
      const isNamed = /^(rank|process|thread|stream|gpustream|node|device)$/i.test(node.named.kind);
      const word = isNamed || at === i ? termOf([node.named]) : null;
      if (word) parts.unshift(word);
      if (/^(rank|process|node)$/i.test(node.named.kind)) break;
    }
    if (parts.length > 0) select({ locations: parts.join(',') });
  };
  const top = below.get(null)?.length ?? 0;
  return (
    <div class="fill">
      <VTable
        label="Locations"
        columns={columns}
        rowCount={rows.length}
        row={(i) => rows[i]?.node}
        rowKey={(i) => rows[i]?.node.id ?? i}
        selected={rows.findIndex(({ node }) => node.id === view.at)}
        onSelect={(i) => setView({ at: rows[i]!.node.id }, 'replace')}
        onOpen={isReport() ? undefined : filterTo}
        tree={tree}
        rowMenu={(i) =>
          isReport()
            ? []
            : [
                { label: 'Filter: only this', run: () => filterTo(i) },
                { label: 'All locations', run: () => select({ locations: null }) },
              ]
        }
      />
      {top < data.n_top && (
        <p class="hint pad">
          {isReport() || top >= MOST_LOADED
            ? `The first ${formatCount(top)} of ${formatCount(data.n_top)} are here.`
            : 'More is on its way …'}
        </p>
      )}
    </div>
  );
}
