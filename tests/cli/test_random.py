"""Random small profiles, and what plain Python reckons from them: tables, views, written files, and the algebra. All numbers are multiples of 1/4, so that every sum is exact."""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cubex
from common import Case, main, run

TYPES = {'DOUBLE': 4, 'INT64': 1, 'UINT64': 1, 'INT16': 1, 'UINT8': 1}      # and the parts of 1 that a value is made of


class Profile:
    """Contexts in pre-order: parent and region of each; exclusive values {metric: [row of each context]}, columns by location Id."""
    def __init__(self, rng):
        self.rng = rng
        self.regions = [(rng.choice('abc'), rng.choice(('x.c', 'y.c')), rng.randint(1, 3)) for _ in range(rng.randint(2, 6))]
        self.parent, path = [], []
        for _ in range(rng.choice((1, 4, 9, 16))):
            path = path[:rng.randint(0, len(path))]
            self.parent.append(path[-1] if path else None)
            path.append(len(self.parent) - 1)
        self.n = len(self.parent)
        self.region = [rng.randrange(len(self.regions)) for _ in range(self.n)]
        self.children = [[c for c in range(self.n) if self.parent[c] == p] for p in range(self.n)]
        self.roots = [c for c in range(self.n) if self.parent[c] is None]
        threads = rng.randint(1, 2)
        self.locations = [(p, t) for p in range(rng.randint(1, 3)) for t in range(threads)]
        self.tree_order = rng.sample(range(len(self.locations)), len(self.locations))       # Ids need not be in the order of the tree
        self.metrics = {name: (rng.choice(list(TYPES)), rng.choice(('INCLUSIVE', 'EXCLUSIVE'))) for name in ['m'] + rng.sample(('n', 'o'), rng.randint(0, 2))}
        self.exclusive = {name: [self.row(dtype) for _ in range(self.n)] for name, (dtype, _) in self.metrics.items()}

    def row(self, dtype):
        if self.rng.random() < 0.3:
            return [0] * len(self.locations)
        return [self.rng.randint(0, 9) / TYPES[dtype] if dtype == 'DOUBLE' else self.rng.randint(0, 9) for _ in self.locations]

    def name(self, c):
        return self.regions[self.region[c]][0]

    def path(self, c):
        return self.name(c) if self.parent[c] is None else self.path(self.parent[c]) + '->' + self.name(c)

    def inclusive(self, rows):
        out = [list(r) for r in rows]
        for c in reversed(range(self.n)):
            if self.parent[c] is not None:
                out[self.parent[c]] = [a + b for a, b in zip(out[self.parent[c]], out[c])]
        return out

    def wide(self):
        out = []
        for root in self.roots:
            out.append(root)
            stack = [root]
            while stack:
                below = self.children[stack.pop()]
                out += below
                stack += reversed(below)
        return out

    def file(self):
        """The bytes of a .cubex: in either byte order, packed or not, rows of zeros there or not."""
        members, described = {}, ''
        for i, (name, (dtype, kind)) in enumerate(self.metrics.items()):
            described += cubex.metric(i, name, dtype, kind)
            stored = self.exclusive[name] if kind == 'EXCLUSIVE' else self.inclusive(self.exclusive[name])
            order = list(range(self.n)) if kind == 'EXCLUSIVE' else self.wide()
            keeps_zeros = self.rng.random() < 0.5
            numbers = [i for i, c in enumerate(order) if keeps_zeros or any(stored[c])] or [0]
            end, pack = self.rng.choice('<>'), self.rng.choice((cubex.rows, cubex.packed))
            members[f'{i}.index'] = cubex.index(numbers, end)
            members[f'{i}.data'] = pack(dtype, [[v if dtype == 'DOUBLE' else int(v) for v in stored[order[k]]] for k in numbers], end)
        return cubex.tar({**members, 'anchor.xml': cubex.anchor(described, self.program(), self.system())})

    def program(self):
        out = [f'<region id="{i}" mod="{file}" begin="{line}" end="{line}"><name>{name}</name><mangled_name>{name}</mangled_name><paradigm>compiler</paradigm><role>function</role>'
               '<url></url><descr></descr></region>\n' for i, (name, file, line) in enumerate(self.regions)]

        def add(c):
            out.append(f'<cnode id="{c}" calleeId="{self.region[c]}">\n')
            for k in self.children[c]:
                add(k)
            out.append('</cnode>\n')
        for c in self.roots:
            add(c)
        return ''.join(out)

    def system(self):
        out = '<systemtreenode Id="0"><name>m</name><class>machine</class>\n'
        for p in sorted({p for p, _ in self.locations}):
            out += f'<locationgroup Id="{p}"><name>rank {p}</name><rank>{p}</rank><type>process</type>\n'
            for i in self.tree_order:
                if self.locations[i][0] == p:
                    out += f'<location Id="{i}"><name>t</name><rank>{self.locations[i][1]}</rank><type>thread</type></location>\n'
            out += '</locationgroup>\n'
        return out + '</systemtreenode>\n<topologies>\n</topologies>\n'


# ---------------------------------------------------------------- what is expected
def expected(nodes, places, values):
    """{(path, metric): sorted list of {place: exclusive value, without zeros}}, one for each context of the path; nodes: (path, …)."""
    out = {}
    for metric, rows in values.items():
        for (path, *_), row in zip(nodes, rows):
            out.setdefault((path, metric), []).append(sorted((place, v) for place, v in zip(places, row) if v))
    return {key: sorted(rows) for key, rows in out.items()}


def unite(profiles, exact):
    """[(path, {number of a profile: its context})]: equal contexts first, then by name, below pairs only."""
    out = []

    def level(lists, prefix):
        found = []                                              # (key, name, {profile: context})
        for k, contexts in enumerate(lists):
            free, left = [f for f in found], []
            for rule in (0, 1):
                for c in contexts if rule == 0 else [] if exact else left:
                    p = profiles[k]
                    key = (p.regions[p.region[c]], p.name(c))[rule]
                    hit = next((f for f in free if f[rule] == key), None)
                    if hit:
                        free.remove(hit)
                        hit[2][k] = c
                    elif rule == 0:
                        left.append(c)
            for c in left:
                if not any(f[2].get(k) == c for f in found):
                    found.append((profiles[k].regions[profiles[k].region[c]], profiles[k].name(c), {k: c}))
        for _, name, at in found:
            path = prefix + name
            out.append((path, at))
            level([profiles[k].children[at[k]] if k in at else [] for k in range(len(profiles))], path + '->')
    level([p.roots for p in profiles], '')
    return out


def combine(operation, profiles, exact):
    nodes = unite(profiles, exact)
    places = list(dict.fromkeys(l for p in profiles for l in p.locations))
    values = {}
    for metric in dict.fromkeys(m for p in profiles for m in p.metrics):
        having = [k for k, p in enumerate(profiles) if metric in p.metrics]
        if operation == 'diff' and len(having) < 2:
            continue

        def value(k, at, place):
            p = profiles[k]
            return p.exclusive[metric][at[k]][p.locations.index(place)] if k in at and place in p.locations else 0

        def result(at, place):
            if operation == 'diff':
                return value(1, at, place) - value(0, at, place)
            if operation == 'mean':
                return sum(value(k, at, place) for k in having) / len(having)
            return value(max((k for k in having if place in profiles[k].locations), default=having[0]), at, place)
        values[metric] = [[result(at, place) for place in places] for _, at in nodes]
    return expected(nodes, places, values)


def cut(p, roots, prunes):
    nodes, target, values = [], {}, {}

    def visit(c, above, prefix):
        """above: the node that the caller became; None outside the new roots."""
        is_root = above is None and (not roots or p.name(c) in roots)
        if not is_root and above is None:
            me, path = None, ''
        elif not is_root and (p.name(c) in prunes or target.get(('pruned', p.parent[c]))):
            me, path = above, prefix
            target['pruned', c] = True
        else:
            me, path = len(nodes), ('' if is_root else prefix + '->') + p.name(c)
            nodes.append((path,))
        target[c] = me
        for k in p.children[c]:
            visit(k, me, path)
    for c in p.roots:
        visit(c, None, '')
    for metric, rows in p.exclusive.items():
        values[metric] = [[0] * len(p.locations) for _ in nodes]
        for c in range(p.n):
            if target[c] is not None:
                values[metric][target[c]] = [a + b for a, b in zip(values[metric][target[c]], rows[c])]
    return expected(nodes, p.locations, values)


def content(data):
    """A written file in the same shape, by the decoder of the tests."""
    cube = cubex.Cube(data)
    places = {}
    for group in cube.root.iter('locationgroup'):
        for location in group.findall('location'):
            places[int(location.get('Id'))] = (int(group.findtext('rank')), int(location.findtext('rank')))
    kinds = {m['uniq_name']: m['type'] for m in cube.metrics}
    values = {}
    for metric, stored in cube.values.items():
        rows = [list(stored.get(c, [0] * len(places))) for c in range(len(cube.cnodes))]
        own = [list(r) for r in rows]
        for c, node in enumerate(cube.cnodes):
            if kinds[metric] == 'INCLUSIVE' and node['parent'] is not None:
                own[node['parent']] = [a - b for a, b in zip(own[node['parent']], rows[c])]
        values[metric] = own
    return cube, expected([(path,) for path in cube.paths()], [places[i] for i in range(len(places))], values)


# ---------------------------------------------------------------- the tests
class Random(Case):
    def profiles(self, count, each):
        for seed in range(count):
            rng = random.Random(seed)
            made = [Profile(rng) for _ in range(each)]
            yield rng, made, [self.write(f'{seed}-{i}.cubex', p.file()) for i, p in enumerate(made)]

    def assertWritten(self, wanted, *command):
        out = self.path('out.cubex')
        result = run(*command, '-q', '-o', out)
        self.assertEqual(0, result.status, (command, result))
        cube, got = content(self.read('out.cubex'))
        self.assertEqual([], cubex.grammar_errors(cube.anchor), command)
        self.assertEqual(wanted, got, command)

    def test_tables(self):
        for _, (p,), (path,) in self.profiles(25, 1):
            rows = run('sql', '--json', path, 'select m.name metric, n.context context, n.inclusive inclusive, n.exclusive exclusive from node n join metric m on m.id = n.metric').json
            got = {(r['metric'], r['context']): (r['inclusive'], r['exclusive']) for r in rows if r['inclusive'] or r['exclusive']}
            want = {}
            for metric, own in p.exclusive.items():
                for c, (a, b) in enumerate(zip(p.inclusive(own), own)):
                    if any(a):
                        want[metric, c] = (sum(a), sum(b))
            self.assertEqual(want, got, path)

    def test_written_again(self):
        for _, (p,), (path,) in self.profiles(25, 1):
            want = expected([(p.path(c),) for c in range(p.n)], p.locations, p.exclusive)
            self.assertWritten(want, 'convert', '-O', 'compression=zlib', path)

    def test_flat_views(self):
        for _, (p,), (path,) in self.profiles(25, 1):
            answer = run('tree', '--flat', '--json', path).json
            for metric in answer['metrics']:
                own = p.exclusive[metric]
                inclusive = p.inclusive(own)
                want = {}
                for c in range(p.n):
                    above = p.parent[c]
                    while above is not None and p.region[above] != p.region[c]:
                        above = p.parent[above]
                    a, b = want.get(str(p.region[c]), (0, 0))       # of what calls itself only the outermost counts
                    want[str(p.region[c])] = (a + (sum(inclusive[c]) if above is None else 0), b + sum(own[c]))
                got = {n['source_id']: (n['values'][metric]['inclusive'], n['values'][metric]['exclusive']) for n in answer['root']['children']}
                self.assertEqual(want, got, (path, metric))

    def test_diff_merge_and_mean(self):
        for _, made, paths in self.profiles(15, 3):
            for match in ('name', 'exact'):
                self.assertWritten(combine('diff', made[:2], match == 'exact'), 'diff', '--match', match, *paths[:2])
                self.assertWritten(combine('merge', made, match == 'exact'), 'merge', '--match', match, *paths)
            self.assertWritten(combine('mean', made[:2], False), 'mean', *paths[:2])

    def test_cut(self):
        for rng, (p,), (path,) in self.profiles(20, 1):
            names = sorted({p.name(c) for c in range(p.n)})
            root, prune = rng.choice(names), rng.choice(names)
            self.assertWritten(cut(p, [root], []), 'cut', '--root', root, path)
            self.assertWritten(cut(p, [], [prune]), 'cut', '--prune', prune, path)
            if root != prune:
                self.assertWritten(cut(p, [root], [prune]), 'cut', '--root', root, '--prune', prune, path)


if __name__ == '__main__':
    main()
