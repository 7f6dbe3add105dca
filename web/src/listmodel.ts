// A tree whose children come in lists when somebody opens a node: what is known of it, and which nodes are open.

export interface ModelRow {
  node: number;
  /** -1 of the first level. */
  parent: number;
  depth: number;
  /** null: not known before it is opened. */
  children: number | null;
}

/** Lists of an answer: their rows follow one another. missing: below the node, too, but not in this report. */
export interface RowLists {
  lists: { node: number; n: number; offset: number; rows: number; missing?: number }[];
}

/** A line of the table: a row, or what stands for the children that are not here yet. */
export type EntryOf<R> =
  { row: R; more: null } | { row: null; more: { node: number; depth: number; left: number; isMissing: boolean } };

interface List {
  n: number;
  nodes: number[];
  missing: number;
}

export class ListModel<R extends ModelRow> {
  readonly rows = new Map<number, R>();
  readonly lists = new Map<number, List>();
  readonly open = new Set<number>();

  /** Lists of an answer: their nodes are open. */
  takeLists(answer: RowLists, rowAt: (i: number, parent: number) => R): void {
    let at = 0;
    for (const { node, n, offset, rows, missing = 0 } of answer.lists) {
      const known = this.lists.get(node);
      const nodes = offset > 0 && known ? known.nodes.slice(0, offset) : [];
      for (let i = 0; i < rows; i++, at++) {
        const row = rowAt(at, node);
        this.rows.set(row.node, row);
        nodes.push(row.node);
      }
      // A shorter answer to the same question takes nothing away
      if (!known || nodes.length >= known.nodes.length || known.n !== n) this.lists.set(node, { n, nodes, missing });
      if (node >= 0) {
        this.open.add(node);
        const parent = this.rows.get(node);
        if (parent && parent.children === null) parent.children = n;
      }
    }
  }

  isExpandable(row: R): boolean {
    return row.children === null || row.children > 0;
  }

  /** From the root. */
  path(node: number): R[] {
    const out: R[] = [];
    for (let row = this.rows.get(node); row; row = this.rows.get(row.parent)) out.push(row);
    return out.reverse();
  }

  /** All lines, in order. No recursion: trees may be very deep. */
  entries(): EntryOf<R>[] {
    const out: EntryOf<R>[] = [];
    const stack: { list: List; at: number; node: number; depth: number }[] = [];
    const push = (node: number, depth: number) => {
      const list = this.lists.get(node);
      if (list) stack.push({ list, at: 0, node, depth });
    };
    push(-1, 0);
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      if (top.at === top.list.nodes.length) {
        const left = top.list.n - top.list.nodes.length;
        if (left > 0) out.push({ row: null, more: { node: top.node, depth: top.depth, left, isMissing: false } });
        if (top.list.missing > 0)
          out.push({ row: null, more: { node: top.node, depth: top.depth, left: top.list.missing, isMissing: true } });
        stack.pop();
        continue;
      }
      const row = this.rows.get(top.list.nodes[top.at++]!)!;
      out.push({ row, more: null });
      if (this.open.has(row.node)) push(row.node, top.depth + 1);
    }
    return out;
  }
}
