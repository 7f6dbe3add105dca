"""Two exports of one program against each other: processes, threads and streams of several executions have other numbers, and are the same all the same."""
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run
from nsight_make import Export, PAGEABLE, TO_HOST, global_pid, global_tid

# What walks of JSON trees find, in nanoseconds.
KERNEL = 'cudaLaunchKernel_v7000->GPU saxpy'


def plain(pid, factor, threads=2, backwards=False, gpu='Made GPU'):
    """In each thread a range of 900 ns times the factor with a call of 50 ns (its kernel: 300 ns times the factor), a copy of 80 ns in a call of 100, and 3000 ns plus 1000 times the factor in poll()."""
    x = Export()
    x.device(name=gpu)
    order = range(threads)
    for k in reversed(order) if backwards else order:
        t = global_tid(pid, pid + 5 * k)
        process = global_pid(t)
        x.range(f'step {k}', 2000 * k, 2000 * k + 900 * factor, thread=t)
        x.call('cudaLaunchKernel_v7000', 2000 * k + 10, 2000 * k + 60, thread=t)
        x.kernel('saxpy', 2000 * k + 100, 2000 * k + 100 + 300 * factor, process=process, stream=7 + k)
        x.call('cudaMemcpy_v3020', 2000 * k + 700, 2000 * k + 800, thread=t)
        x.copy(TO_HOST, 2000 * k + 710, 2000 * k + 790, 4096, target=PAGEABLE, process=process, stream=7 + k)
        x.osrt('poll', 5000, 8000 + 1000 * factor, thread=t)
    return x


def with_wait(factor):
    """A kernel that the host waits for: WAIT says again what the wait and its overlap have."""
    x = Export()
    x.region('main', 0, 2000)
    x.launch('k', (10, 30), (40, 40 + 400 * factor))
    x.call('cudaDeviceSynchronize_v3020', 35, 50 + 400 * factor)
    x.sync(4, 36, 45 + 400 * factor)
    return x


class Compared(Case):
    def setUp(self):
        super().setUp()
        self.a = plain(4242, 1).write(self.path('a.sqlite'))
        self.b = plain(177, 2, backwards=True, gpu='Another GPU').write(self.path('b.sqlite'))

    def nodes(self, *args):
        result = run(*args)
        self.assertEqual(0, result.status, result)
        found = {}

        def walk(node):
            found[node['path']] = node
            for child in node['children']:
                walk(child)
        walk(result.json['root'])
        return found

    def test_diff(self):
        nodes = self.nodes('diff', '--json', '--all', self.a, self.b)
        self.assertTrue(all(n['in_base'] and n['in_target'] for n in nodes.values()), nodes)
        for k in (0, 1):
            step = f'process 4242->thread {4242 + 5 * k}->step {k}'
            time = nodes[step]['values']['time']
            self.assertAlmostEqual(900e-9, time['change']['inclusive'], places=15)
            self.assertAlmostEqual(750e-9, time['base']['exclusive'], places=15)
            self.assertAlmostEqual(300e-9, nodes[f'{step}->{KERNEL}']['values']['gpu_time']['change']['exclusive'], places=15)
            self.assertEqual(0, nodes[f'{step}->cudaMemcpy_v3020->DEVICE_TO_HOST']['values']['bytes']['change']['exclusive'])

    def test_diff_for_people(self):
        """Both times, and what is no part of the whole behind it."""
        result = run('diff', '--all', self.a, self.b)
        self.assertFine(result)
        self.assertRegex(result.out, r'(?s)\Aa\.sqlite → b\.sqlite  time 1\.800 µs → 3\.600 µs, \+1\.800 µs \(\+100\.0 %\)\n.*\n\na\.sqlite → b\.sqlite  gpu_time 0?\.?760')
        lines = result.out.split('\n\n')[0].splitlines()
        roots = [line for line in lines if re.search(r'    (process|\[OS)', line)]
        self.assertRegex(roots[0], 'process 4242$')
        self.assertRegex(roots[1], r'\[OS runtime\] \(section\)$')
        self.assertNotIn('new', result.out)
        self.assertNotIn('gone', result.out)

    def test_what_one_side_has_more(self):
        """Only the thread that is left over is new."""
        path = plain(99, 1, threads=3).write(self.path('c.sqlite'))
        nodes = self.nodes('diff', '--json', '--all', self.a, path)
        new = {p for p, n in nodes.items() if p and not n['in_base']}
        self.assertEqual({p for p in new if '->thread 109' in p}, new)
        self.assertIn('process 4242->thread 109->step 2', new)

    def test_compare(self):
        result = run('compare', '--json', self.a, self.b)
        self.assertIn(result.status, (0, 1), result)
        changes = {(r['path'], r['metric']): r['finding'] for r in result.json['entries']}
        for k in (0, 1):
            step = f'process 0->thread {k}->step {k}'
            self.assertEqual('degradation', changes[step, 'time'])
            self.assertEqual('degradation', changes[f'{step}->{KERNEL}', 'gpu_time'])
        self.assertEqual(([], []), (result.json['new'], result.json['gone']))
        listed = [r['path'] for r in result.json['entries'] if r['metric'] == 'time' and r['finding'] != 'no change']
        self.assertEqual([False, False, True, True], [p.startswith('[OS runtime]') for p in listed[:2] + listed[-2:]], listed)     # larger, but no part of the whole

    def test_compare_leaves_asides_out(self):
        a, b = with_wait(1).write(self.path('w1.sqlite')), with_wait(2).write(self.path('w2.sqlite'))
        result = run('compare', '--json', '--all', a, b)
        self.assertIn(result.status, (0, 1), result)
        paths = {r['path'] for r in result.json['entries'] + result.json['new'] + result.json['gone']}
        self.assertTrue(any(p.endswith('->OVERLAP') for p in paths), paths)
        self.assertFalse([p for p in paths if p.endswith(('->WAIT', '->GPU IDLE'))])
        shown = run('diff', '--all', a, b).out
        self.assertRegex(shown, r'OVERLAP\n.*WAIT \(aside\)\n')

    def test_mean_and_merge(self):
        """Places are the same by name where they have one in common, and then by their order; values are added up for each."""
        for verb, times, gpu in (('mean', 1200, 450), ('merge', 1650, 600)):
            out = self.path(verb + '.db')
            result = run(verb, self.a, self.b, '-o', out)
            self.assertEqual(0, result.status, result)
            db = sqlite3.connect(out)
            self.addCleanup(db.close)
            self.assertEqual([('device 0 (Made GPU)',), ('process 4242',), ('stream 7',), ('stream 8',), ('thread 4242',), ('thread 4247',)], db.execute('select name from location order by name').fetchall())
            rows = db.execute("select c.path, m.name, sum(v.value) from value v join context c on c.id = v.context join metric m on m.id = v.metric group by 1, 2").fetchall()
            values = {(p, m): v for p, m, v in rows}
            for k in (0, 1):
                step = f'process 4242->thread {4242 + 5 * k}->step {k}'
                self.assertAlmostEqual(times, values[step, 'time'] * 1e9, places=6)
                self.assertAlmostEqual(gpu, values[f'{step}->{KERNEL}', 'gpu_time'] * 1e9, places=6)

    def test_an_export_and_itself(self):
        result = run('compare', self.a, self.a)
        self.assertEqual(0, result.status, result)
        self.assertIn('no change', result.out)
        nodes = self.nodes('diff', '--json', '--all', self.a, self.a)
        self.assertEqual({0}, {v['change']['inclusive'] for n in nodes.values() for v in n['values'].values()})


if __name__ == '__main__':
    main()
