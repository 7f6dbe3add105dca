"""assay flame: folded stacks of Perun profiles and of call trees, by hand. Pictures: test_flame_svg.py."""
import json
import os

from common import SMALL, Case, main, run

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')
COMPATIBLE = ('-O', 'perun_compatible=yes')


def frame(function, line, source='s.c'):
    return {'function': function, 'source': source, 'line': line}


def profile(resources, **more):
    return json.dumps({'header': {'type': 'memory', 'units': {'memory': 'B'}, 'cmd': 'c', 'workload': 'w'}, 'collector_info': {'name': 'memory', 'params': {}},
                       'resources': resources, **more})


class Flame(Case):
    def folded(self, *args):
        result = run('flame', '--folded', *args)
        self.assertFine(result)
        return result.out.split('\n')[:-1]

    def memory(self):
        malloc, free = frame('malloc', 0, 'libc'), frame('free', 0, 'libc')
        a, b, main = frame('a', 3), frame('b', 5), frame('main', 9)
        return self.write('memory.perf', profile([
            {'uid': b, 'amount': 7, 'type': 'memory', 'subtype': 'malloc', 'trace': [malloc, b, main]},
            {'uid': a, 'amount': 4, 'type': 'memory', 'subtype': 'malloc', 'trace': [malloc, a, main]},
            {'uid': a, 'amount': 0, 'type': 'memory', 'subtype': 'free', 'trace': [free, a, main]},
            {'uid': b, 'amount': 2.5, 'type': 'memory', 'subtype': 'malloc', 'trace': [malloc, b, main]}]))

    def test_root_first_and_added_up(self):
        self.assertEqual(['s.c:main:9;s.c:b:5;libc:malloc:0 9.5', 's.c:main:9;s.c:a:3;libc:malloc:0 4'], self.folded(self.memory()))

    def test_perun_lines_are_not_added_up(self):
        """Grouped by type, as Perun's own iteration is."""
        self.assertEqual(['b()~s.c~5;main()~s.c~9;b()~s.c~5;malloc()~libc~0 7', 'b()~s.c~5;main()~s.c~9;b()~s.c~5;malloc()~libc~0 2.5',
                          'a()~s.c~3;main()~s.c~9;a()~s.c~3;malloc()~libc~0 4'], self.folded(*COMPATIBLE, self.memory()))

    def test_perun_lines_go_snapshot_by_snapshot(self):
        def resource(uid, amount):
            return {'uid': uid, 'amount': amount, 'type': 'memory', 'trace': []}
        snapshots = [{'time': '0.1', 'resources': [resource('a', 1), resource('b', 1e-7), resource('a', 1e22)]}, {'time': '0.2', 'resources': [resource('b', True), resource('a', None)]}]
        path = self.write('s.perf', json.dumps({'header': {}, 'snapshots': snapshots}))
        self.assertEqual(['a 1', 'a 1e+22', 'b 1e-07', 'b True', 'a None'], self.folded(*COMPATIBLE, path))

    def test_traces_outermost_first(self):
        """As kperf has them: the command before, the uid behind."""
        path = self.write('k.perf', json.dumps({'header': {'units': {'time': 'sample'}}, 'resources': {'leaf#0': {'amount': [3, 4]}, 'leaf#1': {'amount': [5]}}, 'models': [],
                                               'resource_type_map': {'leaf#0': {'uid': 'leaf', 'command': 'sh', 'trace': [{'func': 'main'}, {'func': 'mid'}]},
                                                                     'leaf#1': {'uid': 'leaf', 'command': 'sh', 'trace': []}}}))
        self.assertEqual(['sh;main;mid;leaf 7', 'leaf 5'], self.folded(path))
        self.assertEqual(['leaf;mid;main 3', 'leaf;mid;main 4', 'leaf 5'], self.folded(*COMPATIBLE, path))

    def test_names_cannot_break_stacks(self):
        path = self.write('n.perf', profile([{'uid': 'f(a;b)\nc', 'amount': 1}, {'uid': 'f(a:b) c', 'amount': 2}]))
        self.assertEqual(['f(a:b) c 3'], self.folded(path))

    def test_integers_stay_exact(self):
        path = self.write('i.perf', profile([{'uid': 'f', 'amount': 2 ** 62}, {'uid': 'f', 'amount': 2 ** 62 + 1}]))
        self.assertEqual([f'f {2 ** 63 + 1}'], self.folded(path))

    def test_two_profiles_have_the_metric_of_diff(self):
        """Resources of other metrics are not added, also where nothing says that their units differ."""
        paths = [self.write(f'{n}.perf', profile([{'uid': 'f', 'amount': n, 'type': 'memory'}, {'uid': 'f', 'amount': 10 * n, 'type': 'time'}])) for n in (1, 2)]
        metric, = {node for node in run('diff', *paths, '--json').json['metrics'][:1]}
        amounts = {'memory': 'f 1 2\n', 'time': 'f 10 20\n'}
        self.assertEqual(amounts[metric], run('flame', '--diff', *paths, '--folded').out)
        for name, text in amounts.items():
            self.assertEqual(text, run('flame', '--diff', *paths, '--folded', '--metric', name).out)

    def test_one_metric_of_a_profile(self):
        path = self.write('m.perf', profile([{'uid': 'f', 'amount': 1, 'type': 'memory'}, {'uid': 'f', 'amount': 10, 'type': 'time'}]))
        together = run('flame', '--folded', path)  # nothing says that these are different units
        self.assertEqual((0, 'f 11\n'), (together.status, together.out))
        self.assertIn("the amounts of 'memory' [B], 'time' together; --metric takes one", together.err)
        self.assertEqual(['f 10'], self.folded(path, '--metric', 'time'))
        self.assertEqual(2, run('flame', '--folded', path, '--metric', 'energy').status)

    def test_units_are_not_added(self):
        header = {'type': 'mixed', 'units': {'memory': 'B', 'time': 's', 'lock': 's'}, 'cmd': 'c', 'workload': 'w'}
        resources = [{'uid': 'f', 'amount': 1, 'type': 'memory'}, {'uid': 'g', 'amount': 2, 'type': 'memory'}, {'uid': 'f', 'amount': 10, 'type': 'time'}, {'uid': 'f', 'amount': 5, 'type': 'lock'}]
        path = self.write('m.perf', profile(resources, header=header))
        r = run('flame', '--folded', path)
        self.assertEqual((0, 'f 15\n'), (r.status, r.out))
        self.assertIn("the amounts of 'time' [s], 'lock' [s]; those of 'memory' [B] have another unit: --metric", r.err)
        self.assertEqual(['f 1', 'g 2'], self.folded(path, '--metric', 'memory'))
        self.assertEqual(['f 10'], self.folded(path, '--metric', 'time'))
        self.assertEqual(['f 15'], self.folded(path, '--metric', 'time', '--metric', 'lock'))
        self.assertFails(run('flame', '--folded', path, '--metric', 'time', '--metric', 'memory'), 2, 'different units')
        # only what is there counts
        only = self.write('only.perf', profile(resources[:2], header=header))
        self.assertEqual(['f 1', 'g 2'], self.folded(only))
        # several files: the unit of the first one, where the others have it
        both = run('flame', '--folded', only, path)
        self.assertEqual((0, 'f 2\ng 4\n'), (both.status, both.out))
        heat = os.path.join(EXAMPLES, 'heat.cubex')
        other = run('flame', '--folded', only, heat)
        self.assertEqual((2, 'f 1\ng 2\n'), (other.status, other.out))
        self.assertRegex(other.err, r'heat\.cubex: its stacks are in sec, those of \S*only\.perf in B')
        self.assertFine(run('flame', '--folded', '--metric', 'time', path, heat))  # s and sec are one

    def test_nothing_to_show(self):
        self.assertEqual([], self.folded(self.write('e.perf', profile([]))))
        self.assertEqual([], self.folded(*COMPATIBLE, self.write('e2.perf', profile([]))))
        self.assertEqual([], self.folded(self.write('z.perf', profile([{'uid': 'f', 'amount': 'x'}, {'uid': 'g'}]))))

    def test_call_trees_have_exclusive_values(self):
        heat = os.path.join(EXAMPLES, 'heat.cubex')
        tree = run('tree', '--json', '--metric', 'time', heat).json['root']
        want = {}

        def walk(node, path):
            path = path + [node['name']] if node.get('path') else path
            value = node['values'].get('time', {}).get('exclusive') if path else None
            if value:
                want[';'.join(path)] = want.get(';'.join(path), 0) + value
            for child in node['children']:
                walk(child, path)
        walk(tree, [])
        got = dict(line.rsplit(' ', 1) for line in self.folded(heat))
        self.assertEqual(set(want), set(got))
        for path, value in want.items():
            self.assertAlmostEqual(value, float(got[path]), delta=1e-9 * abs(value))
        self.assertIn('main;solve;stencil', got)

    def test_lines_do_not_count_twice(self):
        """In databases of HPCToolkit the exclusive value of a function has those of its lines in it."""
        path = os.path.join(EXAMPLES, 'heat-hpctoolkit')
        total = run('tree', '--json', path).json['root']['values']['CPUTIME (sec)']['inclusive']
        self.assertAlmostEqual(total, sum(float(line.rsplit(' ', 1)[1]) for line in self.folded(path)), delta=1e-9 * total)

    def test_other_metrics_runs_and_places(self):
        heat = os.path.join(EXAMPLES, 'heat.cubex')
        self.assertIn('main 8', self.folded(heat, '--metric', 'visits'))
        self.assertIn('main 1', self.folded(heat, '--metric', 'visits', '--location', '3'))
        text = self.write('small.txt', SMALL)
        self.assertEqual(['main;sort 4.25', 'main;join 40.5'], self.folded(text))
        self.assertEqual(['main;sort 1.25', 'main;join 10.5'], self.folded(text, '--run', 'p=1,n=10'))

    def test_several_files_are_one_graph(self):
        a, b = self.write('a.perf', profile([{'uid': 'f', 'amount': 1}])), self.write('b.perf', profile([{'uid': 'g', 'amount': 2}, {'uid': 'f', 'amount': 3}]))
        self.assertEqual(['f 4', 'g 2'], self.folded(a, b))

    def test_output_file(self):
        out = self.path('out.folded')
        self.assertEqual([], self.folded(self.memory(), '-o', out))
        with open(out) as f:
            self.assertEqual(2, len(f.readlines()))

    def test_wrong_usage(self):
        path = self.memory()
        self.assertEqual(self.folded(path), run('flame', path).out.splitlines())
        for args, words in ((('flame', '--folded', path, '--svg'), 'exclude each other'), (('flame', '--folded'), 'needs a file'),
                            (('flame', '--folded', *COMPATIBLE, os.path.join(EXAMPLES, 'heat.cubex')), "Perun's profiles"),
                            (('flame', '--folded', '-O', 'perun_compatible=maybe', path), 'perun_compatible'),
                            (('flame', '--folded', '--metric', 'time', '--metric', 'visits', os.path.join(EXAMPLES, 'heat.cubex')), 'once')):
            result = run(*args)
            self.assertFails(result, 2, words)
        for name in 'flame.png', 'flame.PDF', 'flame.html':  # folded stacks would be in it
            self.assertFails(run('flame', path, '-o', self.path(name)), 2, name, '-o FILE.svg')
            self.assertFalse(os.path.exists(self.path(name)))
        missing = run('flame', '--folded', self.path('missing.perf'), path)
        self.assertEqual(3, missing.status)
        self.assertEqual(2, missing.out.count('\n'))


class Beyond(Case):
    def test_amounts_that_no_sum_holds(self):
        path = self.write('huge.folded', 'a;b -5\na;b 1e308\na;c 1e308\n')
        for options in (['--json'], ['-o', os.path.join(self.folder, 'huge.svg')], ['--json', '--diff', path]):
            result = run('flame', path, *options)
            self.assertEqual((3, ''), (result.status, result.out), options)
            self.assertIn('more than a number can hold', result.err)
        self.assertFalse(os.path.exists(os.path.join(self.folder, 'huge.svg')))
        fine = run('flame', '--json', self.write('large.folded', 'a;b 8e307\na;c 8e307\na;d 9.5e15\na;e -9.5e18\n'))
        self.assertEqual(1.6e308, fine.json['value'])


if __name__ == '__main__':
    main()
