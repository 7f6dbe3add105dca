"""HPCToolkit databases as Python values, for tests of what the command writes: of the form of 2021 and of the released form 4.

Everything that the descriptions of the formats demand of a writer is asserted on the way: offsets, alignment, order, end entries, footers, and that cct.db
says the same as profile.db. Independent of the writers in hpctoolkit.py, and of the command.
"""
import os
import re
import struct
import xml.etree.ElementTree as ElementTree


class Decoded:
    """metrics: {id: (name, kind)}. tree: {id: (parent, kind, name)} in order. profiles: [(tuple, bits, {(context, metric id): value})].
    summary: {(context, metric id, statistic): value}. traces: [[(time, context id)]], one for each profile."""

    def __init__(self):
        self.title, self.metrics, self.tree, self.profiles, self.summary, self.traces, self.relations = None, {}, {}, [], {}, [], {}

    def values(self):
        """{tuple as text: {(context, metric name, kind): value}}"""
        out = {}
        for elements, _, values in self.profiles:
            key = ' '.join(f'{kind}:{logical}:{physical}' for kind, logical, physical in elements)
            assert key not in out, key
            out[key] = {(c, *self.metrics[m]): v for (c, m), v in values.items()}
        return out

    def statistics(self):
        return {(c, *self.metrics[m], s): v for (c, m, s), v in self.summary.items()}


def read(directory, name):
    with open(os.path.join(directory, name), 'rb') as f:
        return f.read()


def up(n):
    return -(-n // 8) * 8


def ascending(numbers):
    numbers = list(numbers)
    return all(a < b for a, b in zip(numbers, numbers[1:]))


def by_run(values, starts):
    """Pairs of (key, its values), from [(key, start)] of which the last is the end."""
    return [(key, values[start:end]) for (key, start), (_, end) in zip(starts, starts[1:])]


def check_transposed(profiles, by_context):
    assert by_context == {(i + 1, c, m): v for i, (_, _, values) in enumerate(profiles) for (c, m), v in values.items()}, 'cct.db and profile.db'


# ---- the form of 2021 ---------------------------------------------------------------------------------------------------

def statistics_2021(table, raw):
    """{id in the summary profile: (metric id, statistic)}, from the formulas."""
    out, ids = {}, [int(e.get('i')) for e in table]
    assert len(ids) == len(set(ids)), 'ids of MetricTable'
    for e in table:
        match = re.fullmatch(r'(.*):(Sum|Mean|StdDev|CfVar|Min|Max) \(([IE])\)', e.get('n'))
        assert int(e.get('partner')) in ids
        if match is None:
            assert e.get('show') == '4'
            continue
        numbers = [int(n) for n in re.findall(r'\$(\d+)', e.find('MetricFormula').get('frm'))]
        metric = raw[f'{match.group(1)} ({match.group(3)})']
        of = {'Sum': [(0, 'sum')], 'Mean': [(0, 'sum'), (1, 'count')], 'StdDev': [(0, 'sumsq'), (1, 'count'), (2, 'sum')],
              'Min': [(0, 'min')], 'Max': [(0, 'max')]}.get(match.group(2), [])
        for k, name in of:
            assert out.setdefault(numbers[k], (metric, name)) == (metric, name)
    return out


def tree_2021(db, data, files, procedures):
    """Elements with one number but for its sign are one context, and the positive one names it. {it: context}"""
    traced, kinds = {}, {'PF': 'function', 'L': 'loop', 'S': 'line', 'C': 'call'}
    db.tree[0] = (None, 'root', '<root>')
    seen_positive, stack = set(), [(e, 0) for e in reversed(data)]
    while stack:
        e, parent = stack.pop()
        id = int(e.get('i'))
        assert e.tag in kinds and not (e.tag == 'S' and len(e)) and 'f' in e.attrib and 's' in e.attrib
        if 'it' in e.attrib:
            assert traced.setdefault(int(e.get('it')), abs(id)) == abs(id)
        if id > 0:
            assert id not in seen_positive, f'{id} twice'
            seen_positive.add(id)
        name = procedures[e.get('n')] if e.tag == 'PF' else f'{files[e.get("f")]}:{e.get("l")}'
        if abs(id) not in db.tree:
            db.tree[abs(id)] = (parent, kinds[e.tag], name)
        elif id > 0:
            db.tree[id] = (db.tree[id][0], kinds[e.tag], name)
        stack.extend((child, abs(id)) for child in reversed(e))
    assert seen_positive == set(db.tree) - {0}
    return traced


def profiles_2021(b, kinds):
    assert b[:18] == b'HPCPROF-profdb__\1\0' and b[-8:] == b'tfBDFORP' and not any(b[56:128])
    n, sections, size, at, tuples_size, tuples = struct.unpack_from('>IHQQQQ', b, 18)
    assert (sections, size, at, tuples) == (2, 52 * n, 128, up(128 + 52 * n))
    out, next_tuple = [], tuples
    for i in range(n):
        tuple_at, zero, zero2, zero3, n_values, n_contexts, block = struct.unpack_from('>QQQQQIQ', b, at + 52 * i)
        assert tuple_at == next_tuple and not (zero or zero2 or zero3)
        length, = struct.unpack_from('>H', b, tuple_at)
        elements = [struct.unpack_from('>HQQ', b, tuple_at + 2 + 18 * k) for k in range(length)]
        next_tuple += 2 + 18 * length
        values = [(m, v) for v, m in struct.iter_unpack('>dH', b[block:block + 10 * n_values])]
        index = list(struct.iter_unpack('>IQ', b[block + 10 * n_values:block + 10 * n_values + 12 * (n_contexts + 1)]))
        assert index[-1] == (0x656E6421, n_values) and ascending(c for c, _ in index[:-1])
        assert all(v for _, v in values)
        found = {(c, m): v for c, run in by_run(values, index) for m, v in run}
        assert len(found) == n_values
        out.append(([(kinds[k & 0x3fff], logical, physical) for k, physical, logical in elements], [k >> 14 for k, _, _ in elements], found))
    assert next_tuple == tuples + tuples_size
    assert out[0][0] == [('SUMMARY', 0, 0)]
    return out


def cct_2021(b):
    assert b[:18] == b'HPCPROF-cctdb___\1\0' and b[-8:] == b'rtfBDTCC' and not any(b[40:128])
    n, sections, size, at = struct.unpack_from('>IHQQ', b, 18)
    assert (sections, size, at) == (1, 22 * n, 128)
    out, end = {}, up(128 + 22 * n)
    for i in range(n):
        context, n_values, n_metrics, block = struct.unpack_from('>IQHQ', b, at + 22 * i)
        assert context == i and block == end
        if not n_values:
            continue
        values = [(p, v) for v, p in struct.iter_unpack('>dI', b[block:block + 12 * n_values])]
        end = block + 12 * n_values + 10 * (n_metrics + 1)
        index = list(struct.iter_unpack('>HQ', b[block + 12 * n_values:end]))
        assert index[-1] == (0x6564, n_values) and ascending(m for m, _ in index[:-1])
        for m, run in by_run(values, index):
            assert ascending(p for p, _ in run)
            out.update({(p, i, m): v for p, v in run})
    assert end == len(b) - 8
    return out


def trace_2021(b, n_profiles):
    assert b[:18] == b'HPCPROF-tracedb_\1\0' and not any(b[40:128])
    n, sections, size, at = struct.unpack_from('>IHQQ', b, 18)
    assert (n, sections, size, at) == (n_profiles, 1, 22 * n, 128)
    out, last = [], up(128 + 22 * n)
    for i in range(n):
        profile, kind, start, end = struct.unpack_from('>IHQQ', b, at + 22 * i)
        assert (profile, kind, start % 8) == (i + 1, 0, 0) and start == last
        out.append(list(struct.iter_unpack('>QI', b[start:end])))
        assert [t for t, _ in out[-1]] == sorted(t for t, _ in out[-1])
        last = up(end)
    assert len(b) == last
    return out


def decode_2021(directory):
    db = Decoded()
    root = ElementTree.fromstring(read(directory, 'experiment.xml'))
    assert (root.tag, root.get('version')) == ('HPCToolkitExperiment', '4.0')
    section = root.find('SecCallPathProfile')
    head = section.find('SecHeader')
    assert [e.tag for e in head] == ['IdentifierNameTable', 'MetricTable', 'MetricDBTable', 'TraceDBTable', 'LoadModuleTable', 'FileTable', 'ProcedureTable', 'Info']
    db.title = root.find('Header').get('n')
    assert section.get('n') == db.title
    raw = {e.get('n'): int(e.get('i')) for e in head.find('MetricDBTable')}
    for name, id in raw.items():
        kind = {' (I)': 'inclusive', ' (E)': 'exclusive'}.get(name[-4:])
        db.metrics[id] = (name[:-4] if kind else name, kind)
    names = lambda table: {e.get('i'): e.get('n') for e in head.find(table)}
    traced = tree_2021(db, section.find('SecCallPathProfileData'), names('FileTable'), names('ProcedureTable'))
    kinds = [e.get('n') for e in head.find('IdentifierNameTable')]
    summary, *db.profiles = profiles_2021(read(directory, 'profile.db'), kinds)
    of = statistics_2021(list(head.find('MetricTable')), raw)
    db.summary = {(c, *of[m]): v for (c, m), v in summary[2].items()}
    check_transposed(db.profiles, cct_2021(read(directory, 'cct.db')))
    lines = trace_2021(read(directory, 'trace.db'), len(db.profiles))
    assert all(c in traced or c == 0 for line in lines for _, c in line), 'samples of contexts that have no it'
    db.traces = [[(t, traced.get(c, c)) for t, c in line] for line in lines]
    times = [t for line in db.traces for t, _ in line]
    of_traces = list(head.find('TraceDBTable'))
    assert len(of_traces) == bool(times)
    if times:
        assert int(of_traces[0].get('db-min-time')) <= min(times) and int(of_traces[0].get('db-max-time')) == max(times)
    db.ticks = int(of_traces[0].get('u')) if times else None
    return db


# ---- the released form --------------------------------------------------------------------------------------------------

class Bytes:
    def __init__(self, data):
        self.data = data

    def get(self, layout, at):
        return struct.unpack_from('<' + layout, self.data, at)

    def text(self, at):
        return self.data[at:self.data.index(b'\0', at)].decode() if at else None


def head_4(data, code, footer, n_sections):
    b = Bytes(data)
    assert data[:16] == b'HPCTOOLKIT' + code + b'\4\0' and data[-8:] == footer
    sections = [b.get('QQ', 0x10 + 16 * i) for i in range(n_sections)]
    assert all(at + size <= len(data) - 8 for size, at in sections)
    return b, sections


def metrics_4(db, b, at):
    n_metrics, size_metric, size_instance, size_summary = b.get('IBBB', at + 8)
    metrics, = b.get('Q', at)
    assert (size_metric, size_instance, size_summary) == (32, 16, 24)
    kinds = {'execution': 'inclusive', 'function': 'exclusive', 'point': 'point', 'lex_aware': 'lexical'}
    names = {('1', 0): 'count', ('$$', 0): 'sum', ('($$^2)', 0): 'sumsq', ('$$', 1): 'min', ('$$', 2): 'max'}
    of = {}
    for i in range(n_metrics):
        name, instances, summaries, n_instances, n_summaries = b.get('QQQHH', metrics + 32 * i)
        scopes = {}
        for k in range(n_instances):
            scope, id = b.get('QH', instances + 16 * k)
            scopes[scope] = id
            word = b.text(b.get('Q', scope)[0])
            assert id not in db.metrics
            db.metrics[id] = (b.text(name), kinds.get(word, word))
        for k in range(n_summaries):
            scope, formula, combine = b.get('QQB', summaries + 24 * k)
            id, = b.get('H', summaries + 24 * k + 0x12)
            assert id not in of
            of[id] = (scopes[scope], names[b.text(formula), combine])
    return of


def tree_4(db, b, sections):
    texts = lambda section: {at + size * i: b.text(b.get('Q', at + size * i + 8)[0]) for at, n, size in [b.get('QIH', sections[section][1])] for i in range(n)}
    modules, files = texts(5), texts(6)
    at, n, size = b.get('QIH', sections[7][1])
    functions = {at + size * i: b.get('QQQQI', at + size * i) for i in range(n)}
    strings = range(sections[4][1], sections[4][1] + sections[4][0])
    assert all(name in strings and (m == 0 or m in modules) and (f == 0 or f in files) for name, m, _, f, _ in functions.values())
    db.functions = {b.text(name): (modules.get(m), o, files.get(f), line) for name, m, o, f, line in functions.values()}
    db.tree[0] = (None, 'root', '<root>')
    entries, n, size = b.get('QHB', sections[3][1])
    stack = []
    for i in range(n):
        size_children, children, id, type = b.get('QQIH', entries + size * i)
        name = b.text(b.get('Q', entries + size * i + 0x18)[0])
        stack.append((id, 0, 'entry', name, children, size_children))
    stack.reverse()
    while stack:
        id, parent, kind, name, at, size = stack.pop()
        assert id not in db.tree and id > 0
        db.tree[id] = (parent, kind, name)
        below, end = [], at + size
        while at < end:
            size_children, children, child, flags, relation, type, words, propagation = b.get('QQIBBBBH', at)
            assert (propagation & 1) == (relation == 0)
            flex, at = list(b.get(f'{words}Q', at + 0x20)), at + 0x20 + 8 * words
            function = flex.pop(0) if flags & 1 else None
            place = f'{files[flex.pop(0)]}:{flex.pop(0)}' if flags & 2 else None
            point = f'{modules[flex.pop(0)]}+{flex.pop(0):#x}' if flags & 4 else None
            assert not flex
            db.relations[child] = relation
            what = {0: b.text(functions[function][0]) if function else None, 1: place or point, 2: place, 3: point}[type]
            below.append((child, id, ('function', 'loop', 'line', 'instruction')[type], what, children, size_children))
        stack.extend(reversed(below))


def profiles_4(data, kinds):
    b, sections = head_4(data, b'prof', b'_prof.db', 2)
    at, n, size = b.get('QIB', sections[0][1])
    assert size == 48 and sections[0][1] % 8 == sections[1][1] % 8 == at % 8 == 0
    out, tuples = [], sections[1][1]
    for i in range(n):
        n_values, values_at, n_contexts, index_at, tuple_at, flags = b.get('QQI4xQQI', at + 48 * i)
        assert flags == (i == 0) and (tuple_at == 0) == (i == 0) and values_at % 4 == index_at % 4 == 0
        values = list(struct.iter_unpack('<Hd', data[values_at:values_at + 10 * n_values]))
        index = list(struct.iter_unpack('<IQ', data[index_at:index_at + 12 * n_contexts])) + [(None, n_values)]
        assert ascending(c for c, _ in index[:-1]) and all(v for _, v in values)
        found = {}
        for c, run in by_run(values, index):
            assert run and ascending(m for m, _ in run)
            found.update({(c, m): v for m, v in run})
        elements = []
        if i:
            assert tuple_at == tuples, 'tuples follow each other'
            length, = b.get('H', tuple_at)
            elements = [b.get('BBHIQ', tuple_at + 8 + 16 * k) for k in range(length)]
            tuples += 8 + 16 * length
        out.append(([(kinds[e[0]], e[3], e[4]) for e in elements], [e[2] for e in elements], found))
    assert tuples == sum(sections[1])
    return out


def cct_4(data):
    b, sections = head_4(data, b'ctxt', b'__ctx.db', 1)
    at, n, size = b.get('QIB', sections[0][1])
    assert size == 32 and at % 8 == 0
    out = {}
    for i in range(n):
        n_values, values_at, n_metrics, index_at = b.get('QQH6xQ', at + 32 * i)
        values = list(struct.iter_unpack('<Id', data[values_at:values_at + 12 * n_values]))
        index = list(struct.iter_unpack('<HQ', data[index_at:index_at + 10 * n_metrics])) + [(None, n_values)]
        assert ascending(m for m, _ in index[:-1])
        for m, run in by_run(values, index):
            assert run and ascending(p for p, _ in run)
            out.update({(p, i, m): v for p, v in run})
    return out, n


def trace_4(data, n_profiles):
    b, sections = head_4(data, b'trce', b'trace.db', 1)
    at, n, size, first, last = b.get('QIB3xQQ', sections[0][1])
    assert (n, size) == (n_profiles, 24)
    out = []
    for i in range(n):
        profile, start, end = b.get('I4xQQ', at + 24 * i)
        assert profile == i + 1 and start % 8 == 0
        out.append(list(struct.iter_unpack('<QI', data[start:end])))
        assert all(first <= t <= last for t, _ in out[-1]) and [t for t, _ in out[-1]] == sorted(t for t, _ in out[-1])
    return out


def decode_4(directory):
    db = Decoded()
    b, sections = head_4(read(directory, 'meta.db'), b'meta', b'_meta.db', 8)
    assert all(at % 8 == 0 for k, (_, at) in enumerate(sections) if k != 4)
    db.title, db.description = (b.text(at) for at in b.get('QQ', sections[0][1]))
    names, n = b.get('QB', sections[1][1])
    kinds = [b.text(b.get('Q', names + 8 * i)[0]) for i in range(n)]
    of = metrics_4(db, b, sections[2][1])
    tree_4(db, b, sections)
    summary, *db.profiles = profiles_4(read(directory, 'profile.db'), kinds)
    db.summary = {(c, *of[m]): v for (c, m), v in summary[2].items()}
    by_context, n_contexts = cct_4(read(directory, 'cct.db'))
    assert n_contexts > max(db.tree)
    check_transposed(db.profiles, by_context)
    has_traces = os.path.exists(os.path.join(directory, 'trace.db'))
    db.traces = trace_4(read(directory, 'trace.db'), len(db.profiles)) if has_traces else [[] for _ in db.profiles]
    return db
