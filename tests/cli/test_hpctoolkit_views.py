"""The three views of HPCToolkit databases, of all generations. What is expected is reckoned by hand from the costs of hpctoolkit.small():
lines of main 0.75, of solve 5 in the inner and 0.25 in the outer loop, 1 of the inlined square, 0.125 of solve in solve, 2 of exp."""
import os
import unittest

from common import Case, environment, run, run_on_terminal
import hpctoolkit

EXE, LIB = '/opt/app/bin/app', '/usr/lib/libmath.so'
TIME = 'CPUTIME (sec)'
WRITERS = {'2021': hpctoolkit.write_2021, '4': hpctoolkit.write_4}


def values(node, metric=TIME):
    """(inclusive, exclusive) of a node, 0 for what is not there."""
    v = node['values'].get(metric, {})
    return v.get('inclusive', 0), v.get('exclusive', 0)


def children(node):
    return {c['name']: c for c in node['children']}


def each(node):
    yield node
    for child in node['children']:
        yield from each(child)


class Views(Case):
    def setUp(self):
        super().setUp()
        for name, write in WRITERS.items():
            write(self.path(name), hpctoolkit.small())
        hpctoolkit.write_xml(self.path('xml'), hpctoolkit.small())

    def tree(self, name, *options):
        result = run('tree', '--json', self.path(name), *options)
        self.assertEqual(0, result.status, result)
        return result.json

    def test_top_down(self):
        for name in WRITERS:
            with self.subTest(name):
                answer = self.tree(name)
                self.assertEqual(('top-down', [TIME, 'cycles']), (answer['view'], answer['metrics']))
                root = answer['root']
                self.assertEqual(('<root>', '0', '', 9.125), (root['name'], root['source_id'], root['path'], values(root)[0]))
                nodes = {n['source_id']: n for n in each(root)}
                main, solve, again, square, exp = (nodes[i] for i in ('2', '5', '13', '10', '16'))
                self.assertEqual([(9.125, 0.75), (6.375, 5.25), (0.125, 0.125), (1, 1), (2, 2)], [values(n) for n in (main, solve, again, square, exp)])
                self.assertEqual(['main', 'solve', 'solve', 'square', 'exp'], [n['name'] for n in (main, solve, again, square, exp)])
                self.assertEqual((('./src/solve.c', 20, EXE)), (solve['file'], solve['line'], solve['module']))
                self.assertEqual((5, 5), values(nodes['7']))
                self.assertEqual(5.25, values(nodes['6'])[0])
                self.assertEqual((1e10 + 1e8, 0), values(main, 'cycles'))
                self.assertTrue(square['inlined'])
                self.assertNotIn('40', nodes)  # it has no place in the tree

    def test_call_sites_are_one_with_callees(self):
        nodes = {n['source_id']: n for n in each(self.tree('2021')['root'])}
        self.assertTrue({'4', '12', '15'}.isdisjoint(nodes))
        self.assertEqual(('./src/main.c', 9), (nodes['5']['call_file'], nodes['5']['call_line']))
        self.assertEqual('<program root>->main->solve->solve', nodes['13']['path'])
        self.assertIn('solve', children(nodes['2']))

    def test_bottom_up(self):
        for name in WRITERS:
            with self.subTest(name):
                answer = self.tree(name, '--bottom-up')
                self.assertEqual('bottom-up', answer['view'])
                root = answer['root']
                self.assertEqual((None, 9.125), (root['source_id'], values(root)[0]))
                of = children(root)
                self.assertEqual({'<program root>', 'main', 'solve', 'square', 'exp'}, set(of))
                self.assertEqual({'main': (9.125, 0.75), 'solve': (6.375, 5.375), 'square': (1, 1), 'exp': (2, 2)}, {n: values(of[n]) for n in of if n[0] != '<'})
                self.assertEqual({'solve': (0.125, 0.125), 'main': (6.375, 5.25)}, {n: values(c) for n, c in children(of['solve']).items()})
                self.assertEqual(['solve'], list(children(of['square'])))

    def test_flat(self):
        for name in WRITERS:
            with self.subTest(name):
                answer = self.tree(name, '--flat')
                self.assertEqual(('flat', 'scope'), (answer['view'], answer['by']))
                modules = children(answer['root'])
                self.assertEqual([(9.125, 7.125), (2, 2)], [values(modules[m]) for m in (EXE, LIB)])
                files = {os.path.basename(n): f for n, f in children(modules[EXE]).items()}
                self.assertEqual({'main.c': (9.125, 0.75), 'solve.c': (6.375, 5.375), 'square.h': (1, 1)}, {n: values(f) for n, f in files.items()})
                solve = children(files['solve.c'])['solve']
                self.assertEqual((6.375, 5.375), values(solve))
                self.assertEqual((5.25, 5.25 if name == '2021' else 0.25), values(children(solve)['loop at ./src/solve.c:23']))
                calls = [n for n in each(solve) if n['kind'] == 'call' and n['name'] == 'solve']
                self.assertEqual([0.125], [n['values'][TIME]['inclusive'] for n in calls])
                self.assertNotIn('exclusive', calls[0]['values'][TIME])
                for module in modules.values():
                    self.assertAlmostEqual(values(module)[1], sum(values(f)[1] for f in module['children']))

    def test_flat_without_loops_and_lines(self):
        """Functions alone stand in modules and files, too."""
        called = hpctoolkit.Node(3, 'function', 'solve', './src/solve.c', 9, EXE, 0x400)
        main = hpctoolkit.Node(2, 'function', 'main', './src/main.c', 5, EXE, 0x300, children=[called])
        cost = {(2, TIME): 0.5, (3, TIME): 1.5}
        db = hpctoolkit.Database('functions', [TIME], [hpctoolkit.Node(1, 'entry', '<program root>', children=[main])], [hpctoolkit.Profile([('RANK', 0, 0), ('THREAD', 0, 0)], cost)])
        for name, write in WRITERS.items():
            with self.subTest(name):
                write(self.path('functions-' + name), db)
                module = children(self.tree('functions-' + name, '--flat')['root'])[EXE]
                self.assertEqual((2, 2), values(module))
                self.assertEqual({'./src/main.c': (2, 0.5), './src/solve.c': (1.5, 1.5)}, {n: values(f) for n, f in children(module).items()})
                self.assertEqual((1.5, 1.5), values(children(children(module)['./src/solve.c'])['solve']))

    def test_experiments_of_2x(self):
        root = self.tree('xml', '--flat')['root']
        modules = children(root)
        # What is put in place is a piece of solve: what counts is solve's own value, and here that is without it
        self.assertEqual((9.125, 0.75 + 5.375), values(modules[EXE], TIME + ':Sum'))
        self.assertNotIn('./src/square.h', children(modules[EXE]))
        self.assertEqual((2, 2), values(modules[LIB], TIME + ':Sum'))

    def test_one_metric_of_a_name(self):
        answer = self.tree('4', '--metric', TIME)
        self.assertEqual([TIME], answer['metrics'])
        self.assertEqual(9.125, values(answer['root'])[0])

    # ---- two databases ---------------------------------------------------------------------------------------------------

    def test_diff(self):
        """Metrics once, with the file's exclusive values; call sites one with callees; nothing without a place; paths without the root."""
        later = hpctoolkit.small()
        for key in ((8, TIME), (14, TIME)):
            later.profiles[0].costs[key] += 1
        later.extra = {(1, 41, TIME, 'execution'): 2.0}
        for name, write in WRITERS.items():
            with self.subTest(name):
                write(self.path('later-' + name), later)
                result = run('diff', '--json', self.path(name), self.path('later-' + name))
                self.assertEqual(0, result.status, result)
                answer = result.json
                self.assertEqual([TIME, 'cycles'], answer['metrics'])
                self.assertEqual(([], []), (answer['only_in_base'], answer['only_in_target']))
                self.assertEqual(('<root>', 'root', ''), tuple(answer['root'][k] for k in ('name', 'kind', 'path')))
                nodes = list(each(answer['root']))
                site = '' if name == '2021' else 'insn app+0x320->'
                solve = next(n for n in nodes if n['path'] == f'<program root>->main->{site}solve')
                self.assertEqual({'inclusive': 6.375, 'exclusive': 5.25}, solve['values'][TIME]['base'])
                self.assertEqual({'inclusive': 2, 'exclusive': 1}, solve['values'][TIME]['change'])
                self.assertFalse([n['name'] for n in nodes if n['name'].startswith(('<context', 'call '))])

    # ---- locations ------------------------------------------------------------------------------------------------------

    def test_locations_by_kind(self):
        cases = {'rank=0': 4.375, 'rank=1': 4.75, 'rank=1,thread=0': 4.75, 'rank=0-1': 9.125, 'rank=0|1,thread=*': 9.125, 'RANK=1': 4.75,
                 'process=0': 4.375, 'node=0,rank=1': 4.75, 'rank=0,rank=1': 9.125, 'node=node*': 9.125, 'rank=1-': 4.75, '1': 4.75, '0.0': 4.375, 'rank 1': 4.75,
                 'rank': 9.125, 'rank=1,thread': 4.75, 'thread,rank=0': 4.375}
        for name in WRITERS:
            for place, expected in cases.items():
                with self.subTest((name, place)):
                    self.assertEqual(expected, values(self.tree(name, '--location', place)['root'])[0])
        both = self.tree('2021', '--location', 'rank=0', '--location', 'rank=1,thread=0')
        self.assertEqual((9.125, 'rank=0 + rank=1,thread=0'), (values(both['root'])[0], both['location']))
        for place in ('gpustream=1', 'gpustream'):
            self.assertEqual({}, self.tree('2021', '--location', place)['root']['values'])

    def test_locations_that_are_not_there(self):
        for place, words in {'rank=7': ("'rank=7'",), 'rnk=0': ("'rnk'", 'node, rank, thread'), 'rank=': ("'rank='",), '=3': ("'=3'",), 'rak': ('did you mean',), 'rank=0,': ("'rank=0,'",),
                             'rank=|0': ("'rank=|0'",), 'gpustream=1,thread=0': ('gpustream=1',)}.items():
            with self.subTest(place):
                self.assertFails(run('tree', self.path('2021'), '--location', place), 2, *words)

    # ---- the hot path ----------------------------------------------------------------------------------------------------

    def hot(self, *options):
        return [n['name'] for n in each(self.tree('2021', *options)['root']) if n.get('hot')]

    def test_hot_path(self):
        half = ['<root>', '<program root>', 'main', 'solve', 'loop at ./src/solve.c:23', 'loop at ./src/solve.c:24', 'line ./src/solve.c:25']
        self.assertEqual(half, self.hot())
        for text in ('0.5', '50%', '0', '0.69'):
            self.assertEqual(half, self.hot('--hot-path-threshold', text), text)
        for text in ('0.7', '70%'):  # solve has 6.375 of 9.125
            self.assertEqual(half[:3], self.hot('--hot-path-threshold', text))
        self.assertEqual(half[:3], [n['name'] for n in each(self.tree('2021', '--hot-path', '--hot-path-threshold', '70%')['root'])])
        for text in ('1.5', '101%', '-1', 'half', '', 'nan'):
            self.assertFails(run('tree', self.path('2021'), '--hot-path-threshold', text), 2, '--hot-path-threshold')
        self.assertEqual(['<root>', EXE], [n['name'] for n in each(self.tree('2021', '--flat', '--hot-path')['root'])][:2])
        self.assertFails(run('tree', self.path('2021'), '--by', 'region', '--hot-path'), 2, 'hot path')

    # ---- sources ---------------------------------------------------------------------------------------------------------

    def add_source(self, name, lines, folder='2021/src'):
        os.makedirs(self.path(folder), exist_ok=True)
        with open(os.path.join(self.path(folder), name), 'w') as f:
            f.write(''.join(lines))

    def sources(self, *options):
        return {n['source_id']: n['source'] for n in each(self.tree('2021', '--source', *options)['root']) if 'source' in n}

    def test_source(self):
        self.assertEqual({}, self.sources())
        self.add_source('solve.c', [f'\t  line {i};\r\n' for i in range(1, 25)] + ['for (;;)\twork();'])
        self.add_source('square.h', ['\n'] * 10)
        self.assertEqual({'5': 'line 20;', '6': 'line 23;', '7': 'line 24;', '8': 'for (;;)\twork();', '13': 'line 20;', '14': 'line 21;'}, self.sources())
        self.assertNotIn('source', next(each(self.tree('2021')['root'])))
        lines = run('tree', self.path('2021'), '--source').out.split('\n')
        at = next(i for i, line in enumerate(lines) if line.endswith('loop at solve.c:24'))
        self.assertTrue(lines[at + 1].endswith('│   line 24;') or lines[at + 1].endswith('  line 24;'), lines[at + 1])
        self.assertTrue(any(line.endswith('  for (;;) work();') for line in lines))

    def test_sources_outside_are_not_read(self):
        self.add_source('secret.c', ['secret\n'] * 40, '.')
        self.add_source('main.c', ['main\n'] * 40)
        os.symlink('../../secret.c', os.path.join(self.path('2021/src'), 'solve.c'))
        os.mkfifo(os.path.join(self.path('2021/src'), 'square.h'))
        self.assertEqual({'main'}, set(self.sources().values()))
        for file in ('./src/../../secret.c', '../secret.c', self.path('secret.c')):
            db = hpctoolkit.small()
            for node in db.nodes():
                if node.file:
                    node.file = file
            hpctoolkit.write_2021(self.path('2021'), db)
            self.assertEqual({}, self.sources(), file)

    # ---- for people ------------------------------------------------------------------------------------------------------

    def test_text(self):
        out = run('tree', self.path('2021')).out
        self.assertTrue(out.startswith(f'{self.path("2021")}  CPUTIME 9.125 s, 3 locations\n'), out)
        self.assertNotIn('<root>', out)
        self.assertIn('solve  solve.c:20  called at main.c:9\n', out)
        self.assertIn('[I] square  square.h:3', out)
        self.assertIn('loop at solve.c:24\n', out)
        for width in (40, 80, 120):
            for view in ((), ('--bottom-up',), ('--flat', '--sort', 'inclusive'), ('--source',), ('--metric', TIME, '--metric', 'cycles')):
                shown = run_on_terminal('tree', '-q', self.path('2021'), *view, columns=width, env=environment(TERM='xterm', NO_COLOR='1', LC_ALL='C.UTF-8'))
                self.assertEqual(0, shown.status, shown)
                self.assertNotIn('\x1b', shown.out)
                self.assertGreater(len(shown.out.splitlines()), 5)
                self.assertEqual([], [line for line in shown.out.splitlines()[1:] if len(line) > width])  # the first names the database
        flat = run('tree', self.path('2021'), '--flat', '--sort', 'inclusive').out
        self.assertIn('app  /opt/app/bin\n', flat)
        self.assertIn('→ solve  called at main.c:9\n', flat)
        self.assertIn('-> solve  called at main.c:9\n', run('tree', self.path('2021'), '--flat', '--sort', 'inclusive', '--ascii').out)

    def test_lines_that_only_call_are_joined(self):
        out = run('tree', self.path('4'), '--all').out
        self.assertIn('line solve.c:25', out)
        self.assertNotIn('line main.c:9', out)

    def test_top(self):
        rows = run('top', '--json', self.path('2021')).json['root']['children']
        self.assertEqual(['solve', 'exp', 'square', 'main', '<program root>'], [r['name'] for r in rows])
        self.assertEqual(['solve'], [r['name'] for r in run('top', '--json', '--match', '^sol', self.path('2021')).json['root']['children']])
        self.assertFails(run('top', '--match', '^loop', self.path('2021')), 2, '^loop')

    def test_names_and_roots(self):
        kept = [n['name'] for n in each(self.tree('2021', '--flat', '--match', 'libmath')['root'])]
        self.assertEqual(['<root>', LIB], kept)
        root = self.tree('2021', '--root', 'solve')['root']
        self.assertEqual(('solve', '<program root>->main->solve', 6.375), (root['name'], root['path'], values(root)[0]))
        rows = run('tree', '--csv', '--depth', '1', self.path('2021'), '--metric', TIME).out.split('\n')
        self.assertEqual(['"",0,<root>', '<program root>,1,<program root>'], [','.join(r.split(',')[:3]) for r in rows[1:3]])
        self.assertEqual(4, len(rows))


if __name__ == '__main__':
    unittest.main()
