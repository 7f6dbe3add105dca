"""assay flame --diff: call paths belong together as in assay diff, and both have the same numbers; folded stacks lose nothing on the way."""
import os

from common import Case, main, run
from cubex import processes, profile
import hpctoolkit
from test_nsight_compare import plain

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
HEAT, HEAT_2 = (os.path.join(EXAMPLES, name) for name in ('heat.cubex', 'heat-2.cubex'))
TIME = 'CPUTIME (sec)'


def by_path(nodes):
    """{path of names: (a, b)} of the frames of flame --diff --json."""
    paths, out = [], {}
    for node in nodes:
        path = (() if node['parent'] is None else paths[node['parent']]) + (node['name'],)
        paths.append(path)
        a, b = out.get(path, (0, 0))
        out[path] = a + node['a'], b + node['b']
    return out


def told(node, metric, above=(), out=None):
    """The same of diff --json: inclusive values; what has equal names below one node together."""
    out = {} if out is None else out
    path = above if node['name'] == '<root>' and not above else above + (node['name'],)
    if path and node['kind'] != 'section':
        values = node['values'][metric]
        a, b = out.get(path, (0, 0))
        out[path] = a + values['base']['inclusive'], b + values['target']['inclusive']
    for child in node['children']:
        if node['kind'] != 'section':
            told(child, metric, path, out)
    return out


class FlameDiff(Case):
    def lines(self, *args):
        result = run('flame', '--diff', *map(str, args))
        self.assertEqual(0, result.status, result)
        return sorted(result.out.splitlines())

    def agree(self, a, b, metric, *options, aside=()):
        """aside: names of what stands in other stacks already."""
        frames = by_path(run('flame', '--diff', a, b, '--json', '--metric', metric, *options).json['nodes'])
        expected = told(run('diff', a, b, '--json', '--metric', metric, *options).json['root'], metric)
        self.assertEqual(set(), set(frames) - set(expected))
        for path, (base, target) in expected.items():
            if path[-1] in aside:
                self.assertNotIn(path, frames)
                continue
            a_frame, b_frame = frames.get(path, (0, 0))  # what has nothing is no frame
            self.assertClose(base, a_frame, path)
            self.assertClose(target, b_frame, path)

    def assertClose(self, want, got, path):
        self.assertLessEqual(abs(want - got), 1e-12 * max(abs(want), 1e-9), (path, want, got))

    def cube(self, name, text, values):
        return self.write(name, profile([('time', 'UINT64', 'EXCLUSIVE', tuple((v,) for v in values))], text, processes(1)))

    def test_agrees_with_diff(self):
        self.agree(HEAT, HEAT_2, 'time')
        self.agree(HEAT, HEAT_2, 'time', '--location', '3')
        self.agree(HEAT_2, HEAT, 'visits')

    def test_processes_and_threads_of_other_numbers(self):
        """Processes 4242 and 777 of two executions are one, and so are their threads: nothing is new or gone."""
        paths = []
        for pid, factor in ((4242, 1), (777, 2)):
            paths.append(self.path(f'{pid}.sqlite'))
            plain(pid, factor).write(paths[-1])
        lines = self.lines(*paths)
        self.assertTrue(lines)
        for line in lines:
            path, a, b = line.rsplit(' ', 2)
            self.assertNotIn('777', path)
            self.assertNotIn('0', (a, b), line)
        self.agree(*paths, 'time', aside=('GPU saxpy', 'DEVICE_TO_HOST'))

    def test_match(self):
        """f is at line 2 of A and line 3 of B, g the other way round: by name they are the same, exactly they are not."""
        a, b = self.cube('a.cubex', 'main(f g)', (1, 10, 100)), self.cube('b.cubex', 'main(g f)', (2, 200, 20))
        self.assertEqual(['main 1 2', 'main;f 10 20', 'main;g 100 200'], self.lines(a, b))
        self.assertEqual(['main 1 2', 'main;f 0 20', 'main;f 10 0', 'main;g 0 200', 'main;g 100 0'], self.lines(a, b, '--match', 'exact'))
        self.agree(a, b, 'time')
        self.agree(a, b, 'time', '--match', 'exact')
        answer = run('flame', '--diff', a, b, '--json', '--match', 'exact').json
        self.assertEqual([('f', 0, 20), ('f', 10, 0), ('g', 0, 200), ('g', 100, 0), ('main', 111, 222)], sorted((n['name'], n['a'], n['b']) for n in answer['nodes']))
        self.assertFails(run('flame', a, '--match', 'exact'), 2, '--diff')

    def test_metrics(self):
        """That of both where the main ones differ; where none is, the main one of each."""
        database = os.path.join(EXAMPLES, 'heat-hpctoolkit')
        answer = run('flame', '--diff', HEAT, database, '--json').json
        self.assertAlmostEqual(run('flame', HEAT, '--json').json['value'], answer['a'])
        self.assertAlmostEqual(run('flame', database, '--json').json['value'], answer['b'])

    # ---- runs

    def test_runs_of_each_side(self):
        """Runs of one experiment against each other; three repetitions at n=2 and n=4, of which run 3 is the first at n=4."""
        path = self.write('runs.txt', 'PARAMETER n\nPOINTS 2 4\nREGION main\nMETRIC time\nDATA 1 2 6\nDATA 10 20 60\n')
        pairs = {('0', '1'): (1, 2), ('1', '0'): (2, 1), ('3', '5'): (10, 60), ('n=2', '4'): (3, 20), ('n=2', 'n=4'): (3, 30)}
        for (a, b), (base, target) in pairs.items():
            values = run('diff', path, path, '--json', '--run-a', a, '--run-b', b).json['root']['values']['time']
            self.assertEqual((base, target), (values['base']['inclusive'], values['target']['inclusive']))
            self.assertEqual([f'main {base} {target}'], self.lines(path, path, '--run-a', a, '--run-b', b))
        head = run('diff', path, path, '--run-a', '0', '--run-b', 'n=4', '--ascii').out.splitlines()[0]
        self.assertIn('n=2, run 0 -> n=4, mean of 3 runs', head)
        self.assertEqual('n=4, run 4', run('diff', path, path, '--run-a', '0', '--run-b', '4', '--json').json['target_run'])
        # one side named: the other has the largest point that both have
        self.assertEqual(['main 1 30'], self.lines(path, path, '--run-a', '0'))
        self.assertEqual(['main 30 1'], self.lines(path, path, '--run-b', '0'))
        self.assertFails(run('diff', path, path, '--run-b', '6'), 2, 'there is no run 6')
        self.assertFails(run('flame', '--diff', path, path, '--run-a', 'p=3'), 2, "p")
        self.assertFails(run('flame', path, '--run-a', '0'), 2, 'add --diff')
        other = self.write('other.txt', 'PARAMETER p\nPOINTS 7\nREGION main\nMETRIC time\nDATA 5 7\n')
        self.assertFails(run('diff', path, other), 2, '--run-a')
        self.assertEqual(['main 1 6'], self.lines(path, other, '--run-a', '0', '--run-b', 'p=7'))
        # who has one run only needs no name for it
        single = self.write('single.txt', 'PARAMETER p\nPOINTS 7\nREGION main\nMETRIC time\nDATA 5\n')
        self.assertEqual(['main 1 5'], self.lines(path, single, '--run-a', '0'))
        self.assertEqual(['main 5 30'], self.lines(single, path, '--run-b', 'n=4'))
        self.assertFails(run('diff', path, single), 2, '--run-a')
        self.assertFails(run('diff', path, other, '--run-a', '0'), 2, '--run-b')

    # ---- what the root of all has itself

    def test_the_root_keeps_its_value(self):
        """0.5 s of the first profile that no function has: flame and convert write the same lines, and they have all of it."""
        db = hpctoolkit.small()
        own = db.stored(db.profiles[0])[0, TIME, 'execution']
        whole = own + db.stored(db.profiles[1])[0, TIME, 'execution']
        db.extra[1, 0, TIME, 'execution'] = own + 0.5
        database, folded = self.path('database'), self.path('out.folded')
        hpctoolkit.write_2021(database, db)
        self.assertEqual(0, run('convert', database, '-o', folded, '-O', f'metric={TIME}').status)
        lines = sorted(run('flame', '--folded', database, '--metric', TIME).out.splitlines())
        self.assertIn('<root> 0.5', lines)
        with open(folded, encoding='utf-8') as file:
            self.assertEqual(sorted(file.read().splitlines()), lines)
        self.assertAlmostEqual(whole + 0.5, sum(float(line.rsplit(' ', 1)[1]) for line in lines))
        other = self.path('other')
        del db.extra[1, 0, TIME, 'execution']
        hpctoolkit.write_2021(other, db)
        self.assertNotIn('<root>', run('flame', '--folded', other, '--metric', TIME).out)
        self.assertIn('<root> 0.5 0', self.lines(database, other, '--metric', TIME))


if __name__ == '__main__':
    main()
