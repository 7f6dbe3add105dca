"""Small HPCToolkit databases for tests, of the form of 2021 and of the released form 4, written from the descriptions of the formats alone.

A Database is a tree of nodes, metrics, profiles with what each measured at single nodes, and trace lines. From these the writers make the stored
values: inclusive ones (a node and all below it), exclusive ones (down to the next call), and for form 4 also points and lexical ones (a loop without
the loops in it). The functions that make the bytes of one file take plain values, so that a test can make files that do not fit together.
"""
import os
import struct
from xml.sax.saxutils import quoteattr

KINDS = ['SUMMARY', 'NODE', 'RANK', 'THREAD', 'GPUDEVICE', 'GPUCONTEXT', 'GPUSTREAM', 'CORE']
SCOPES = ['point', 'function', 'lex_aware', 'execution']
# How partial values of the summary are made: name, formula of form 4, its way to combine (0 sum, 1 min, 2 max), and what it is of a list of values.
STATISTICS = [('count', '1', 0, len), ('sum', '$$', 0, sum), ('sumsq', '($$^2)', 0, lambda v: sum(x * x for x in v)), ('min', '$$', 1, min), ('max', '$$', 2, max)]


class Node:
    """kind: entry, function, loop, line, instruction, call. relation: how it hangs below its parent: call, inline or lexical."""

    def __init__(self, id, kind, name=None, file=None, line=0, module=None, offset=0, relation=None, children=()):
        self.id, self.kind, self.name, self.file, self.line, self.module, self.offset = id, kind, name, file, line, module, offset
        self.relation = relation or ('call' if kind in ('entry', 'function') else 'lexical')
        self.children = list(children)

    def walk(self):
        """Itself and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


class Profile:
    """elements: (KIND, logical, physical) of its id tuple. costs: {(node id, metric name): value}, what was measured right there. trace: [(time, node id)]."""

    def __init__(self, elements, costs=None, trace=()):
        self.elements, self.costs, self.trace = list(elements), dict(costs or {}), list(trace)


class Database:
    def __init__(self, title='small', metrics=('CPUTIME (sec)',), roots=(), profiles=(), extra=None):
        self.title, self.metrics, self.roots, self.profiles = title, list(metrics), list(roots), list(profiles)
        self.extra = dict(extra or {})  # {(profile index, context id, metric name, scope): value}: stored values of contexts outside the tree

    def nodes(self):
        return [n for root in self.roots for n in root.walk()]

    def stored(self, profile):
        """{(context id, metric name, scope): value} of one profile, zeros left out. Context 0 is the root, and has execution only."""
        out = {}

        def add(context, metric, scope, value):
            if value and scope in SCOPES:
                out[context, metric, scope] = out.get((context, metric, scope), 0) + value

        def down(node, above):
            """above: the nodes from the root to this one, itself included."""
            for metric in self.metrics:
                value = profile.costs.get((node.id, metric), 0)
                add(node.id, metric, 'point', value)
                add(0, metric, 'execution', value)
                in_function, loops = True, 0
                for above_node, below in zip(reversed(above), [None, *reversed(above[1:])]):
                    if below is not None:
                        in_function = in_function and below.relation == 'lexical'
                        loops += below.kind == 'loop'
                    add(above_node.id, metric, 'execution', value)
                    if in_function:
                        add(above_node.id, metric, 'function', value)
                        if above_node.kind != 'loop' or not loops:
                            add(above_node.id, metric, 'lex_aware', value)
            for child in node.children:
                down(child, [*above, child])
        for root in self.roots:
            down(root, [root])
        number = self.profiles.index(profile) + 1
        out.update({(c, m, s): v for (p, c, m, s), v in self.extra.items() if p == number and s in SCOPES})
        return out

    def context_limit(self):
        return 1 + max([n.id for n in self.nodes()] + [c for _, c, _, _ in self.extra] + [0])


def summary_of(all_stored, numbers):
    """{(context, id): value} of the summary profile. numbers: {(metric, scope, statistic index): id}."""
    lists, out = {}, {}
    for stored in all_stored:
        for (c, m, s), v in stored.items():
            lists.setdefault((c, m, s), []).append(v)
    for (c, m, s), values in lists.items():
        for k, (_, _, _, statistic) in enumerate(STATISTICS):
            if (m, s, k) in numbers:
                out[c, numbers[m, s, k]] = float(statistic(values))
    return {k: v for k, v in out.items() if v}


def grouped(rows):
    """[(key, rest of the row …)] as {key: [rest]}, keys ascending, rests in the order of the rows."""
    groups = {}
    for key, *rest in rows:
        groups.setdefault(key, []).append(tuple(rest))
    return dict(sorted(groups.items()))


def starts(groups):
    """[(key, where its rows begin)] if they follow each other."""
    at, out = 0, []
    for key, rows in groups.items():
        out.append((key, at))
        at += len(rows)
    return out


def small():
    """Two ranks, the second of them with a GPU stream; a loop in a loop, a line, an inlined function, a recursion, and context 40 outside the tree."""
    exe, lib = '/opt/app/bin/app', '/usr/lib/libmath.so'
    inner = Node(7, 'loop', file='./src/solve.c', line=24, module=exe, offset=0x460, children=[Node(8, 'line', file='./src/solve.c', line=25)])
    again = Node(13, 'function', 'solve', './src/solve.c', 20, exe, 0x400, children=[Node(14, 'line', file='./src/solve.c', line=21)])
    solve = Node(5, 'function', 'solve', './src/solve.c', 20, exe, 0x400, children=[
        Node(6, 'loop', file='./src/solve.c', line=23, module=exe, offset=0x440, children=[inner, Node(9, 'line', file='./src/solve.c', line=26)]),
        Node(10, 'function', 'square', './src/square.h', 3, exe, 0x500, relation='inline', children=[Node(11, 'line', file='./src/square.h', line=4)]),
        Node(12, 'call', file='./src/solve.c', line=30, module=exe, offset=0x4a0, children=[again])])
    math = Node(16, 'function', 'exp', None, 0, lib, 0x1200, children=[Node(17, 'instruction', module=lib, offset=0x1234)])
    main = Node(2, 'function', 'main', './src/main.c', 5, exe, 0x300, children=[
        Node(3, 'line', file='./src/main.c', line=7),
        Node(4, 'call', file='./src/main.c', line=9, module=exe, offset=0x320, children=[solve]),
        Node(15, 'call', file='./src/main.c', line=10, module=exe, offset=0x330, children=[math])])
    time, cycles = 'CPUTIME (sec)', 'cycles'
    costs = {(3, time): 0.5, (8, time): 2.0, (9, time): 0.25, (11, time): 1.0, (14, time): 0.125, (17, time): 0.5, (8, cycles): 4e9, (14, cycles): 1e8}
    second = {(3, time): 0.25, (8, time): 3.0, (17, time): 1.5, (8, cycles): 6e9}
    start = 1700000000000000000
    profiles = [Profile([('NODE', 0, 713047168), ('RANK', 0, 0), ('THREAD', 0, 0)], costs, [(start + 10 ** 6 * k, c) for k, c in enumerate([3, 8, 8, 9, 11, 14, 17, 0])]),
                Profile([('NODE', 0, 713047168), ('RANK', 1, 1), ('THREAD', 0, 0)], second, [(start + 5 * 10 ** 5 + 10 ** 6 * k, c) for k, c in enumerate([3, 8, 17, 0])]),
                Profile([('NODE', 0, 713047168), ('RANK', 1, 1), ('GPUDEVICE', 0, 0), ('GPUCONTEXT', 0, 0), ('GPUSTREAM', 1, 1)])]
    return Database('small', [time, cycles], [Node(1, 'entry', '<program root>', children=[main])], profiles, {(1, 40, time, 'function'): 0.0625, (1, 40, time, 'execution'): 0.0625})


# ---- the form of 2021 ---------------------------------------------------------------------------------------------------

def up(n, k=8):
    return -(-n // k) * k


def profile_2021(profiles, order='>', version=(1, 0), first=128, footer=b'tfBDFORP', packed=None):
    """profiles: [(elements, {(context, metric id): value})], the summary first. packed: the two bits of each kind, 0 for NODE and 3 for others unless told."""
    def bits(kind):
        return (packed(kind) if packed else 0 if kind in ('NODE', 'SUMMARY') else 3) << 14

    tuples, places = b'', []
    at = up(first + 52 * len(profiles))
    for elements, _ in profiles:
        places.append(at + len(tuples))
        tuples += struct.pack(order + 'H', len(elements))
        for kind, logical, physical in elements:
            tuples += struct.pack(order + 'HQQ', (KINDS.index(kind) if kind in KINDS else kind) | bits(kind), physical, logical)
    blocks, infos = bytearray(), b''
    start = up(at + len(tuples))
    for (_, values), place in zip(profiles, places):
        by_context = grouped((c, value, metric) for (c, metric), value in sorted(values.items(), key=lambda kv: -kv[0][1]))  # real files have them in no order
        infos += struct.pack(order + 'QQQQQIQ', place, 0, 0, 0, len(values), len(by_context), start + len(blocks))
        blocks += b''.join(struct.pack(order + 'dH', *row) for rows in by_context.values() for row in rows)
        blocks += b''.join(struct.pack(order + 'IQ', *entry) for entry in [*starts(by_context), (0x656E6421, len(values))])
    head = b'HPCPROF-profdb__' + bytes(version) + struct.pack(order + 'IHQQQQ', len(profiles), 2, 52 * len(profiles), first, len(tuples), at)
    return (head.ljust(first, b'\0') + infos).ljust(at, b'\0') + tuples.ljust(start - at, b'\0') + blocks + footer


def cct_2021(values, n_contexts, order='>', version=(1, 0), first=128, footer=b'rtfBDTCC', zeroed=False):
    """values: {(profile index, context, metric id): value} of thread profiles."""
    blocks, infos = bytearray(), bytearray()
    start = up(first + 22 * n_contexts)
    by_context = grouped((c, m, p, v) for (p, c, m), v in values.items())
    for c in range(n_contexts):
        own = sorted(by_context.get(c, []))
        by_metric = grouped(own)
        infos += struct.pack(order + 'IQHQ', c, len(own), len(by_metric), start + len(blocks))
        if not own:
            continue
        block = b''.join(struct.pack(order + 'dI', v, p) for _, p, v in own)
        block += b''.join(struct.pack(order + 'HQ', *entry) for entry in [*starts(by_metric), (0x6564, len(own))])
        blocks += bytes(len(block)) if zeroed else block
    head = b'HPCPROF-cctdb___' + bytes(version) + struct.pack(order + 'IHQQ', n_contexts, 1, 22 * n_contexts, first)
    return (head.ljust(first, b'\0') + infos).ljust(start, b'\0') + blocks + footer


def trace_2021(lines, order='>', version=(1, 0), first=128, footer=b''):
    """lines: [(profile index, [(time, context)])]."""
    infos, data = b'', bytearray()
    start = up(first + 22 * len(lines))
    for profile, samples in lines:
        at = start + len(data)
        data += b''.join(struct.pack(order + 'QI', *sample) for sample in samples)
        infos += struct.pack(order + 'IHQQ', profile, 0, at, start + len(data))
    head = b'HPCPROF-tracedb_' + bytes(version) + struct.pack(order + 'IHQQ', len(lines), 1, 22 * len(lines), first)
    return (head.ljust(first, b'\0') + infos).ljust(start, b'\0') + data + footer


class Xml2021:
    """experiment.xml 4.0 as the writers of late 2021 made it: a wrapper that is the same context as its partner has the negated id."""

    def __init__(self, db):
        self.db, self.lines, self.files, self.modules, self.procedures, self.static = db, [], {}, {'<unknown module>': 0}, {}, {}

    def number(self, table, key, first):
        return table.setdefault(key, len(table) + first)

    def attributes(self, node, file):
        """f, l and s of a loop, line or call site."""
        s = self.number(self.static, (node.kind, node.file, node.line, node.module, node.offset), 1000)
        return f's="{s}" f="{self.number(self.files, node.file or file, 0)}" l="{node.line}"'

    def element(self, node, file):
        file = node.file or file
        kids = lambda: [self.element(child, file) for child in node.children]
        if node.kind in ('entry', 'function'):
            name = node.name or '<unknown procedure>'
            s = self.number(self.procedures, (name, node.module, node.offset), 2)
            f, lm = self.number(self.files, file or '<unknown file>', 0), self.number(self.modules, node.module or '<no module>', 0)
            text = f'<PF i="{node.id}" s="{s}" n="{s}" v="{node.offset:#x}" f="{f}" l="{node.line}" lm="{lm}">'
            inside = ''.join(kids())
            if node.kind == 'entry':
                inside = f'<C i="-{node.id}" s="{s}" v="0" f="{f}" l="0" it="{node.id}">\n{inside}</C>\n'
            text += f'\n{inside}</PF>\n'
            return f'<C i="-{node.id}" s="{s}" v="0" l="{node.line}" it="{node.id}">\n{text}</C>\n' if node.relation == 'inline' else text
        if node.kind == 'loop':
            return f'<L i="{node.id}" {self.attributes(node, file)} v="{node.offset:#x}">\n{"".join(kids())}</L>\n'
        if node.kind == 'call':
            return f'<C i="{node.id}" {self.attributes(node, file)} v="{node.offset:#x}" it="{node.id}">\n{"".join(kids())}</C>\n'
        return f'<S i="{node.id}" it="{node.id}" {self.attributes(node, file)} v="{node.offset:#x}"/>\n'

    def metric_lines(self, numbers, raw, dense):
        """Partials and statistics of each metric; numbers as for summary_of()."""
        out, shown = [], -1
        for m in self.db.metrics:
            for scope, letter, word in (('execution', 'I', 'inclusive'), ('function', 'E', 'exclusive')):
                ids = [numbers[m, scope, k] for k in range(len(STATISTICS))]
                for k, (_, _, combine, _) in enumerate(STATISTICS):
                    how = ('sum', 'min', 'max')[combine]
                    out.append(f'<Metric i="{raw[m, scope] if dense else ids[k]}" n={quoteattr(f"{m}:PARTIAL:{k} ({letter})")} v="derived-incr" t="{word}" show="4" show-percent="0">\n'
                               f'<MetricFormula t="combine" frm="{how}(${ids[k]}, ${ids[k]})"/>\n<Info><NV n="units" v="events"/></Info>\n</Metric>')
                count, total, squares, low, high = (f'${i}' for i in ids)
                views = {'Sum': total, 'Mean': f'{total} / {count}', 'StdDev': f'sqrt(({squares} / {count}) - pow({total} / {count}, 2))', 'Min': low, 'Max': high}
                for k, (name, formula) in enumerate(views.items()):
                    i = shown if dense else (raw[m, scope] << 8) + 256 - len(views) + k
                    shown -= 1
                    out.append(f'<Metric i="{i}" n={quoteattr(f"{m}:{name} ({letter})")} v="derived-incr" t="{word}" show="1" show-percent="1">\n'
                               f'<MetricFormula t="view" frm={quoteattr(formula)}/>\n<Info><NV n="units" v="events"/></Info>\n</Metric>')
        return '\n'.join(out)

    def text(self, numbers, raw, dense, times):
        tree = ''.join(self.element(root, None) for root in self.db.roots)
        table = lambda name, rows: f'<{name}>\n' + ''.join(row + '\n' for row in rows) + f'</{name}>\n'
        letters = {'execution': 'I', 'function': 'E'}
        title = quoteattr(self.db.title)
        head = (table('IdentifierNameTable', [f'<Identifier i="{i}" n="{k}"/>' for i, k in enumerate(KINDS)])
                + table('MetricTable', [self.metric_lines(numbers, raw, dense)])
                + table('MetricDBTable', [f'<MetricDB i="{i}" n={quoteattr(f"{m} ({letters[s]})")}/>' for (m, s), i in raw.items()])
                + (table('TraceDBTable', [f'<TraceDB i="0" db-min-time="{min(times)}" db-max-time="{max(times)}" u="1000000000"/>']) if times else '')
                + table('LoadModuleTable', [f'<LoadModule i="{i}" n={quoteattr(n)}/>' for n, i in self.modules.items()])
                + table('FileTable', [f'<File i="{i}" n={quoteattr(n)}/>' for n, i in self.files.items()])
                + table('ProcedureTable', [f'<Procedure i="{i}" n={quoteattr(n)} v="{o:#x}"' + (' f="1"' if n.startswith('<') else '') + '/>' for (n, _, o), i in self.procedures.items()]))
        return (f'<?xml version="1.0"?>\n<HPCToolkitExperiment version="4.0">\n<Header n={title}>\n<Info/>\n</Header>\n<SecCallPathProfile i="0" n={title}>\n'
                f'<SecHeader>\n{head}<Info/>\n</SecHeader>\n<SecCallPathProfileData>\n{tree}</SecCallPathProfileData>\n</SecCallPathProfile>\n</HPCToolkitExperiment>\n')


def write_2021(directory, db, order='>', version=(1, 0), first=128, dense=True, zeroed=False, cct=True, trace=True, trace_footer=b''):
    """dense: metric ids as of 2022 (2.5.2 of the reference), else shifted. Returns {(metric, scope): id} of thread profiles."""
    step = 3 * len(STATISTICS) if dense else 3
    raw = {(m, s): step * i + k for i, m in enumerate(db.metrics) for s, k in (('execution', 2), ('function', 1))}
    numbers = {(m, s, k): r + 3 * k if dense else (r << 8) + k for (m, s), r in raw.items() for k in range(len(STATISTICS))}
    stored = [{(c, m, s): v for (c, m, s), v in db.stored(p).items() if (m, s) in raw} for p in db.profiles]
    threads = [{(c, raw[m, s]): v for (c, m, s), v in values.items()} for values in stored]
    how = dict(order=order, version=version, first=first)
    files = {'profile.db': profile_2021([([('SUMMARY', 0, 0)], summary_of(stored, numbers))] + [(p.elements, t) for p, t in zip(db.profiles, threads)], **how)}
    if cct:
        values = {(i + 1, c, m): v for i, t in enumerate(threads) for (c, m), v in t.items()}
        files['cct.db'] = cct_2021(values, db.context_limit(), zeroed=zeroed, **how)
    if trace:
        files['trace.db'] = trace_2021([(i + 1, p.trace) for i, p in enumerate(db.profiles)], footer=trace_footer, **how)
    times = [t for p in db.profiles for t, _ in p.trace]
    files['experiment.xml'] = Xml2021(db).text(numbers, raw, dense, times).encode()
    write(directory, files)
    return raw


def write(directory, files):
    os.makedirs(directory, exist_ok=True)
    for name, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
        with open(os.path.join(directory, name), 'wb') as f:
            f.write(data)


# ---- the released form --------------------------------------------------------------------------------------------------

class Pool:
    """Bytes that grow, with pointers into them."""

    def __init__(self, head):
        self.data = bytearray(head)

    def add(self, data, align=8):
        self.data += bytes(up(len(self.data), align) - len(self.data))
        at = len(self.data)
        self.data += data
        return at

    def text(self, text):
        return 0 if text is None else self.add(text.encode() + b'\0', 1)

    def section(self, number, at, size):
        struct.pack_into('<QQ', self.data, 0x10 + 16 * number, size, at)

    def done(self, footer):
        return bytes(self.data) + bytes(up(len(self.data)) - len(self.data)) + footer


def head_4(code, n_sections, version=(4, 0)):
    return b'HPCTOOLKIT' + code + bytes(version) + bytes(16 * n_sections)


def profile_4(profiles, entry_size=48, version=(4, 0), footer=b'_prof.db', flags=None):
    """profiles: [(elements, {(context, metric id): value})], the summary first. flags: of elements, by kind; 1 for NODE and 0 for others unless told."""
    out = Pool(head_4(b'prof', 2, version))
    entries = []
    for number, (elements, values) in enumerate(profiles):
        rows = sorted(values.items())
        index = starts(grouped((c, m) for (c, m), _ in rows))
        data = out.add(b''.join(struct.pack('<Hd', m, v) for (_, m), v in rows), 8)
        index_at = out.add(b''.join(struct.pack('<IQ', *entry) for entry in index), 4)
        words = b''.join(struct.pack('<BBHIQ', KINDS.index(k) if k in KINDS else k, 0, flags(k) if flags else int(k == 'NODE'), logical, physical) for k, logical, physical in elements)
        tuple_at = out.add(struct.pack('<HHI', len(elements), 0, 0) + words) if number else 0
        entry = struct.pack('<QQIIQQ', len(rows), data, len(index), 0, index_at, tuple_at)
        entries.append((entry + struct.pack('<II', int(number == 0), 0)).ljust(entry_size, b'\0')[:entry_size])
    at = out.add(b''.join(entries))
    section = out.add(struct.pack('<QIB', at, len(profiles), entry_size))
    out.section(0, section, 13)
    out.section(1, at, 0)
    return out.done(footer)


def cct_4(values, n_contexts, version=(4, 0), footer=b'__ctx.db'):
    """values: {(profile index, context, metric id): value} of thread profiles."""
    out = Pool(head_4(b'ctxt', 1, version))
    entries = bytearray()
    by_context = grouped((c, m, p, v) for (p, c, m), v in values.items())
    for c in range(n_contexts):
        own = sorted(by_context.get(c, []))
        index = starts(grouped(own))
        data = out.add(b''.join(struct.pack('<Id', p, v) for _, p, v in own), 4)
        index_at = out.add(b''.join(struct.pack('<HQ', *entry) for entry in index), 4)
        entries += struct.pack('<QQHHIQ', len(own), data, len(index), 0, 0, index_at)
    at = out.add(entries)
    out.section(0, out.add(struct.pack('<QIB', at, n_contexts, 32)), 13)
    return out.done(footer)


def trace_4(lines, version=(4, 0), footer=b'trace.db'):
    """lines: [(profile index, [(time, context)])]."""
    out = Pool(head_4(b'trce', 1, version))
    entries = b''
    for profile, samples in lines:
        at = out.add(b''.join(struct.pack('<QI', *sample) for sample in samples))
        entries += struct.pack('<IIQQ', profile, 0, at, at + 12 * len(samples))
    times = [t for _, samples in lines for t, _ in samples] or [0]
    at = out.add(entries)
    out.section(0, out.add(struct.pack('<QIB3xQQ', at, len(lines), 24, min(times), max(times))), 32)
    return out.done(footer)


class Meta4:
    """meta.db. draft: metrics of 24 bytes, no entry points, contexts without propagation."""

    def __init__(self, db, prop, stat, draft=False, version=(4, 0)):
        self.db, self.prop, self.stat, self.draft = db, prop, stat, draft
        self.pool = Pool(head_4(b'meta', 8, version))
        self.modules, self.files, self.functions = {}, {}, {}

    def table(self, number, keys, size, pack):
        """Places the entries of one table; {key: where it is}."""
        at = self.pool.add(b''.join(pack(key).ljust(size, b'\0') for key in keys))
        self.pool.section(number, self.pool.add(struct.pack('<QIH', at, len(keys), size)), 14)
        return {key: at + size * i for i, key in enumerate(keys)}

    def tables(self):
        nodes = self.db.nodes()
        text = self.pool.text
        self.modules = self.table(5, sorted({n.module for n in nodes if n.module}), 16, lambda path: struct.pack('<IIQ', 0, 0, text(path)))
        self.files = self.table(6, sorted({n.file for n in nodes if n.file}), 16, lambda path: struct.pack('<IIQ', int('src/' in path), 0, text(path)))
        keys = sorted({(n.name or '', n.module or '', n.offset, n.file or '', n.line) for n in nodes if n.kind == 'function' or (self.draft and n.kind == 'entry')})
        self.functions = self.table(7, keys, 40, lambda k: struct.pack('<QQQQII', text(k[0]), self.modules.get(k[1], 0), k[2], self.files.get(k[3], 0), k[4], 0))

    def metrics(self):
        pool, text = self.pool, self.pool.text
        if self.draft:
            entries = b''
            for m in self.db.metrics:
                scopes = b''
                for s in SCOPES:
                    sums = b''.join(struct.pack('<QBBHI', text(formula), combine, 0, self.stat[m, s, k], 0) for k, (_, formula, combine, _) in enumerate(STATISTICS))
                    scopes += struct.pack('<QHHIQ', text(s), len(STATISTICS), self.prop[m, s], 0, pool.add(sums))
                entries += struct.pack('<QHHIQ', text(m), len(SCOPES), 0, 0, pool.add(scopes))
            self.pool.section(2, pool.add(struct.pack('<QIBBB', pool.add(entries), len(self.db.metrics), 24, 24, 16)), 15)
            return
        types = {'point': (1, 255), 'function': (3, 0), 'lex_aware': (0, 255), 'execution': (2, 255)}
        scopes_at = pool.add(b''.join(struct.pack('<QBB6x', text(s), *types[s]) for s in SCOPES))
        entries = b''
        for m in self.db.metrics:
            instances = pool.add(b''.join(struct.pack('<QH6x', scopes_at + 16 * i, self.prop[m, s]) for i, s in enumerate(SCOPES)))
            sums = [struct.pack('<QQBBH4x', scopes_at + 16 * i, text(formula), combine, 0, self.stat[m, s, k]) for i, s in enumerate(SCOPES) for k, (_, formula, combine, _) in enumerate(STATISTICS)]
            entries += struct.pack('<QQQHH4x', text(m), instances, pool.add(b''.join(sums)), len(SCOPES), len(sums))
        at = pool.add(entries)
        pool.section(2, pool.add(struct.pack('<QIBBBxQHB', at, len(self.db.metrics), 32, 16, 24, scopes_at, len(SCOPES), 16)), 27)

    def context(self, node):
        kids = b''.join(self.context(child) for child in node.children)
        at = self.pool.add(kids) if kids else 0
        words, flags = b'', 0
        if node.kind in ('function', 'entry'):
            key = (node.name or '', node.module or '', node.offset, node.file or '', node.line)
            if key in self.functions:
                flags, words = 1, struct.pack('<Q', self.functions[key])
        elif node.file and node.kind in ('loop', 'line'):
            flags, words = 2, struct.pack('<QII', self.files[node.file], node.line, 0)
        if node.module and node.kind in ('loop', 'instruction', 'call'):
            flags, words = flags | 4, words + struct.pack('<QQ', self.modules[node.module], node.offset)
        lexical = {'function': 0, 'entry': 0, 'loop': 1, 'line': 2, 'instruction': 3, 'call': 3}[node.kind]
        relation = ('lexical', 'call', 'inline').index(node.relation)
        head = struct.pack('<QQIBBBB', len(kids), at, node.id, flags, relation, lexical, len(words) // 8)
        return head + (b'' if self.draft else struct.pack('<HHI', int(relation == 0), 0, 0)) + words

    def tree(self):
        pool = self.pool
        if self.draft:
            roots = b''.join(self.context(root) for root in self.db.roots)
            pool.section(3, pool.add(struct.pack('<QQ', len(roots), pool.add(roots))), 16)
            return
        entries = b''
        for root in self.db.roots:
            kids = b''.join(self.context(child) for child in root.children)
            entries += struct.pack('<QQIHHQ', len(kids), pool.add(kids) if kids else 0, root.id, 1, 0, pool.text(root.name))
        at = pool.add(entries)
        pool.section(3, pool.add(struct.pack('<QHB', at, len(self.db.roots), 32)), 11)

    def bytes(self):
        pool = self.pool
        pool.section(0, pool.add(struct.pack('<QQ', pool.text(self.db.title), pool.text('a small database'))), 16)
        names = pool.add(b''.join(struct.pack('<Q', pool.text(k)) for k in KINDS))
        pool.section(1, pool.add(struct.pack('<QB', names, len(KINDS))), 9)
        self.tables()
        self.metrics()
        self.tree()
        pool.section(4, len(pool.data), 0)
        return pool.done(b'_meta.db')


def write_4(directory, db, entry_size=48, draft_metrics=False, version=(4, 0), cct=True, trace=True):
    """Returns {(metric, scope): id} of thread profiles."""
    n, k = len(SCOPES), len(STATISTICS)
    prop = {(m, s): n * k * i + j for i, m in enumerate(db.metrics) for j, s in enumerate(SCOPES)}
    stat = {(m, s, p): prop[m, s] + n * p for m, s in prop for p in range(k)}
    stored = [db.stored(p) for p in db.profiles]
    threads = [{(c, prop[m, s]): v for (c, m, s), v in values.items()} for values in stored]
    files = {'meta.db': Meta4(db, prop, stat, draft_metrics, version).bytes(),
             'profile.db': profile_4([([], summary_of(stored, stat))] + [(p.elements, t) for p, t in zip(db.profiles, threads)], entry_size, version)}
    if cct:
        files['cct.db'] = cct_4({(i + 1, c, m): v for i, t in enumerate(threads) for (c, m), v in t.items()}, db.context_limit(), version)
    if trace:
        files['trace.db'] = trace_4([(i + 1, p.trace) for i, p in enumerate(db.profiles)], version)
    write(directory, files)
    return prop


# ---- experiment.xml 2.x -------------------------------------------------------------------------------------------------

def metric_db(rows, n_metrics):
    """rows: for each node id from 1 its values."""
    return b'HPCPROF-metricdb__' + b'00.10' + b'b' + struct.pack('>II', len(rows), n_metrics) + b''.join(struct.pack(f'>{n_metrics}d', *row) for row in rows)


def hpctrace(samples, version=b'01.01'):
    """samples: [(time, `it`)]."""
    return b'HPCRUN-trace______' + version + b'b' + (struct.pack('>Q', 0) if version > b'01.00' else b'') + b''.join(struct.pack('>QI', *sample) for sample in samples)


class Xml2:
    """experiment.xml 2.x: nodes are numbered from 1, the root, in the order of the document; samples name them by another number, `it`."""

    def __init__(self, db):
        self.db, self.names = db, {}
        self.ids = {0: 1, **{node.id: i + 2 for i, node in enumerate(db.nodes())}}
        self.traces = {node: 100 + i for node, i in self.ids.items()}
        self.metrics = [(m, s) for m in db.metrics for s in ('execution', 'function')]
        self.sums = {}
        for profile in db.profiles:
            for (c, m, s), v in db.stored(profile).items():
                if c in self.ids and (m, s) in self.metrics:
                    self.sums[c, m, s] = self.sums.get((c, m, s), 0) + v

    def name(self, kind, text):
        return self.names.setdefault((kind, text), len(self.names) + 2)

    def values(self, node):
        first = len(self.metrics)
        return ''.join(f'<M n="{first + i}" v="{self.sums[node, m, s]:.6g}"/>' for i, (m, s) in enumerate(self.metrics) if (node, m, s) in self.sums)

    def element(self, node):
        head = f'i="{self.ids[node.id]}" l="{node.line}"'
        if node.kind in ('entry', 'function'):
            tag = 'Pr' if node.relation == 'inline' else 'PF'
            s = self.name('Procedure', node.name)
            head += f' s="{s}" n="{s}" f="{self.name("File", node.file or "~unknown-file~")}" lm="{self.name("LoadModule", node.module or "~unknown-module~")}"' + (' a="1"' if tag == 'Pr' else '')
        else:
            tag = {'loop': 'L', 'call': 'C'}.get(node.kind, 'S')
            head += f' s="{self.name(node.kind, (node.file, node.line, node.offset))}" v="{node.offset:#x}"' + ('' if tag == 'L' else f' it="{self.traces[node.id]}"')
        return f'<{tag} {head}>\n{self.values(node.id)}' + ''.join(self.element(child) for child in node.children) + f'</{tag}>\n'

    def metric_tables(self):
        first, rows, columns = len(self.metrics), '', ''
        for i, (m, s) in enumerate(self.metrics):
            letter, word, partner = ('I', 'inclusive', i + 1) if s == 'execution' else ('E', 'exclusive', i - 1)
            rows += (f'<Metric i="{first + i}" n={quoteattr(f"{m}:Sum ({letter})")} v="derived-incr" t="{word}" partner="{first + partner}" show="1" show-percent="1">\n'
                     f'<MetricFormula t="combine" frm="sum(${first + i}, ${first + i})"/>\n<MetricFormula t="finalize" frm="${first + i}"/>\n</Metric>\n')
            columns += f'<MetricDB i="{i}" n={quoteattr(f"{m} ({letter})")} t="{word}" partner="{partner}" db-glob="*.metric-db" db-id="{i}" db-num-metrics="{first}" db-header-sz="32"/>\n'
        return f'<MetricTable>\n{rows}</MetricTable>\n<MetricDBTable>\n{columns}</MetricDBTable>\n'

    def text(self, version, ticks):
        tree = self.values(0) + ''.join(self.element(root) for root in self.db.roots)
        dtd = '<!DOCTYPE HPCToolkitExperiment [\n<!-- a document type ]> -->\n<!ELEMENT HPCToolkitExperiment (Header, (SecCallPathProfile|SecFlatProfile)*)>\n<!ATTLIST M n CDATA #REQUIRED>\n]>\n'
        tables = ''.join(f'<{kind}Table>\n' + ''.join(f'<{kind} i="{i}" n={quoteattr(text)}/>\n' for (k, text), i in self.names.items() if k == kind) + f'</{kind}Table>\n'
                         for kind in ('LoadModule', 'File', 'Procedure'))
        traces = f'<TraceDBTable>\n<TraceDB i="0" db-glob="*.hpctrace"' + (f' u="{ticks}"' if ticks else '') + '/>\n</TraceDBTable>\n'
        title = quoteattr(self.db.title)
        return (f'<?xml version="1.0"?>\n{dtd}<HPCToolkitExperiment version="{version}">\n<Header n={title}><Info/></Header>\n<SecCallPathProfile i="0" n={title}>\n<SecHeader>\n'
                f'{self.metric_tables()}{traces}{tables}</SecHeader>\n<SecCallPathProfileData>\n{tree}</SecCallPathProfileData>\n</SecCallPathProfile>\n</HPCToolkitExperiment>\n')


def write_xml(directory, db, version='2.2', ticks=1000000000):
    """Profiles without a THREAD are left out. Returns the Xml2: which node has which id."""
    xml = Xml2(db)
    files = {'experiment.xml': xml.text(version, ticks).encode()}
    for number, profile in enumerate(db.profiles):
        place = {kind: logical for kind, logical, _ in profile.elements}
        if 'THREAD' not in place:
            continue
        stored = db.stored(profile)
        base = f'app-{place["RANK"]:06}-{place["THREAD"]:03}-a8c00270-{1000 + number}-0'
        rows = [[stored.get((node, m, s), 0.0) for m, s in xml.metrics] for node in xml.ids]
        files[f'1.{base}.metric-db'] = metric_db(rows, len(xml.metrics))
        files[f'{base}.hpctrace'] = hpctrace([(t, xml.traces[c]) for t, c in profile.trace])
    write(directory, files)
    return xml
