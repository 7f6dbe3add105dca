"""What people see of exports: trees by kind, GPU time beside the host's, what stands aside, how busy GPUs were. Numbers by hand."""
import os

import nsight_make as make
from common import Case, environment, main, run

NS = 1e-9


def nodes(node, path=()):
    """{path: node} of a tree in JSON; what stands above several roots is left out."""
    here = path if node['name'] == '<root>' else path + (node['name'],)
    found = {here: node} if here else {}
    for child in node['children']:
        found.update(nodes(child, here))
    return found


class Views(Case):
    def tree(self, *args):
        result = run('tree', '--json', *args)
        self.assertFine(result)
        return result.json

    def values(self, metric, side, *args):
        """{path: ns or number}, without zeros."""
        scale = NS if metric in ('time', 'gpu_time') else 1
        found = {p: round(n['values'][metric][side] / scale) for p, n in nodes(self.tree(*args)['root']).items() if metric in n['values']}
        return {'->'.join(p): v for p, v in found.items() if v}

    def plain(self):
        """Two threads of one process and one of another; kernels in ranges and outside of them."""
        x = make.Export(make.CURRENT)
        one, two, other = make.global_tid(1000, 1), make.global_tid(1000, 2), make.global_tid(2000, 7)
        x.range('step', 0, 1000, thread=one)
        x.range('inner', 400, 900, thread=one)
        x.launch('k', (100, 130), (150, 250), thread=one)
        x.launch('k', (500, 550), (600, 800), thread=one)
        x.call('cudaMemcpyAsync_v3020', 600, 670, thread=one)
        x.copy(make.TO_DEVICE, 700, 730, bytes=4096)
        x.range('step', 2000, 2100, thread=two)
        x.launch('k', (2010, 2030), (2100, 2500), thread=two)
        x.launch('k', (100, 140), (3000, 3800), thread=other)
        x.call('cudaDeviceSynchronize_v3020', 1200, 1290, thread=one)
        x.kernel('k', 5000, 6600, correlation=0)
        x.osrt('poll', 0, 5000, thread=one)
        return x.write(self.path('plain.sqlite'))

    def with_paths(self):
        x = make.Export()
        x.region('main', 0, 10000)
        x.region('main->solve', 100, 9000)
        x.launch('k', (200, 250), (300, 800))
        x.call('cudaStreamSynchronize_v3020', 400, 900)
        x.sync(3, 410, 890)
        return x.write(self.path('paths.sqlite'))

    # ---- over occurrences

    def test_a_call_and_the_wait_in_it_occur_apart(self):
        """In a plain export both are of one call path."""
        x = make.Export(make.CURRENT)
        x.range('step', 0, 3000)
        for start, end in ((100, 600), (1000, 1700)):
            x.call('cudaStreamSynchronize_v3020', start, end)
            x.sync(3, start + 10, end - 30)
        result = run('stat', '--json', '--over', 'occurrences', x.write(self.path('waits.sqlite')))
        self.assertFine(result)
        found = {(c['path'].rpartition('->')[2], c['kind']): (c['metrics']['time']['inclusive']['count'], round(c['metrics']['time']['inclusive']['sum'] / NS)) for c in result.json['contexts']}
        self.assertEqual({('step', 'nvtx'): (1, 3000), ('cudaStreamSynchronize_v3020', 'api'): (2, 1200), ('cudaStreamSynchronize_v3020', 'sync'): (2, 1120)}, found)

    # ---- over locations

    def test_what_only_gpus_do_has_their_time(self):
        path = self.plain()
        for arguments in (('--location', 'stream'), ('--context', 'process 1000->thread 2->step->cudaLaunchKernel_v7000->GPU k')):
            result = run('stat', path, *arguments)
            self.assertFine(result)
            self.assertTrue(result.out.startswith('gpu_time, exclusive'), result)
            self.assertNotIn('all values are 0', result.out)
        self.assertIn('all values are 0', run('stat', path, '--location', 'stream', '--metric', 'time').out)
        self.assertTrue(run('stat', path).out.startswith('time'))

    def test_locations_without_a_value_take_no_part(self):
        x = make.Export(make.CURRENT)
        x.range('step', 0, 1000)
        x.launch('k', (100, 130), (150, 250), stream=7)
        x.launch('k', (200, 230), (250, 550), stream=8)
        x.launch('other', (300, 330), (600, 650), stream=9)
        path = x.write(self.path('streams.sqlite'))
        result = run('stat', '--json', '--metric', 'gpu_time', path)
        self.assertFine(result)
        found = {row['path'].split('->')[-1]: row['metrics']['gpu_time']['exclusive'] for row in result.json['contexts'] if row['path'].split('->')[-1].startswith('GPU')}
        self.assertEqual({'GPU k': (2, 200, 0.5), 'GPU other': (1, 50, 0)}, {name: (f['count'], round(f['mean'] / NS), f['imbalance']) for name, f in found.items()})

    # ---- by kinds

    def test_by_kernel(self):
        """Of the kernels in step two are of different threads: 100 + 400. Launches by another process, in no range: 800. A kernel of no call: 1600."""
        path = self.plain()
        tree = self.tree('--by', 'kernel', path)
        self.assertEqual(('bottom-up', 'kernel'), (tree['view'], tree['by']))
        self.assertEqual(['GPU k', 'HOST_TO_DEVICE'], sorted(n['name'] for n in tree['root']['children']))
        self.assertEqual({'GPU k': 3100, 'GPU k->cudaLaunchKernel_v7000': 1500, 'GPU k->cudaLaunchKernel_v7000->step': 500, 'GPU k->cudaLaunchKernel_v7000->inner': 200,
                          'GPU k->cudaLaunchKernel_v7000->inner->step': 200, 'GPU k->[Uncorrelated]': 1600, 'HOST_TO_DEVICE': 30, 'HOST_TO_DEVICE->cudaMemcpyAsync_v3020': 30,
                          'HOST_TO_DEVICE->cudaMemcpyAsync_v3020->inner': 30, 'HOST_TO_DEVICE->cudaMemcpyAsync_v3020->inner->step': 30}, self.values('gpu_time', 'inclusive', '--by', 'kernel', path))
        self.assertEqual(3130, round(tree['root']['values']['gpu_time']['inclusive'] / NS))
        self.assertEqual(5, nodes(tree['root'])[('GPU k',)]['values']['visits']['inclusive'])

    def test_by_api(self):
        path = self.plain()
        self.assertEqual({'cudaLaunchKernel_v7000': 30 + 50 + 20 + 40, 'cudaMemcpyAsync_v3020': 70, 'cudaDeviceSynchronize_v3020': 90}, self.values('time', 'inclusive', '--by', 'api', path))
        self.assertEqual({'cudaLaunchKernel_v7000': 1500, 'cudaLaunchKernel_v7000->GPU k': 1500, 'cudaMemcpyAsync_v3020': 30, 'cudaMemcpyAsync_v3020->HOST_TO_DEVICE': 30, '[Uncorrelated]': 1600,
                          '[Uncorrelated]->GPU k': 1600}, self.values('gpu_time', 'inclusive', '--by', 'api', path))

    def test_by_nvtx(self):
        """step: 1000 + 100 without the 500 of inner and the calls 30 and 20; inner: 500 without its calls 50 and 70."""
        path = self.plain()
        self.assertEqual({'step': 550, 'step->cudaLaunchKernel_v7000': 50, 'step->inner': 380, 'step->inner->cudaLaunchKernel_v7000': 50, 'step->inner->cudaMemcpyAsync_v3020': 70,
                          '(no NVTX range)->cudaLaunchKernel_v7000': 40, '(no NVTX range)->cudaDeviceSynchronize_v3020': 90}, self.values('time', 'exclusive', '--by', 'nvtx', path))
        self.assertEqual(3130, sum(self.values('gpu_time', 'exclusive', '--by', 'nvtx', path).values()))

    def test_with_call_paths(self):
        """The kernel runs 500, of which nothing overlaps; the synchronisation covers 400 … 800 of it."""
        path = self.with_paths()
        self.assertEqual({'GPU k': 500, 'GPU k->cudaLaunchKernel_v7000': 500, 'GPU k->cudaLaunchKernel_v7000->solve': 500, 'GPU k->cudaLaunchKernel_v7000->solve->main': 500},
                         self.values('time', 'inclusive', '--by', 'kernel', path))
        self.assertEqual({'cudaLaunchKernel_v7000': 550, 'cudaLaunchKernel_v7000->k': 550, 'cudaLaunchKernel_v7000->k->GPU k': 500, 'cudaStreamSynchronize_v3020': 500,
                          'cudaStreamSynchronize_v3020->STREAM_SYNCHRONIZE': 500, 'cudaStreamSynchronize_v3020->STREAM_SYNCHRONIZE->OVERLAP': 390,
                          'cudaStreamSynchronize_v3020->STREAM_SYNCHRONIZE->WAIT': 480}, self.values('time', 'inclusive', '--by', 'api', path))
        self.assertFails(run('tree', '--by', 'nvtx', path), 3, 'no NVTX ranges')

    def test_words(self):
        path = self.plain()
        self.assertFails(run('tree', '--by', 'kernel', '--flat', path), 2, '--flat')
        self.assertFails(run('tree', '--by', 'api', '--bottom-up', path), 2, '--bottom-up')
        self.assertFails(run('tree', '--by', 'api', '--group-by', 'region', path), 2, '--group-by')
        text = self.write('e.txt', 'PARAMETER p\nPOINTS 1\nREGION main\nDATA 1\n')
        self.assertFails(run('tree', '--by', 'kernel', text), 3, 'GPU activities', text)

    def test_lists_and_stacks(self):
        path = self.plain()
        top = run('top', '--by', 'kernel', '--csv', path)
        self.assertFine(top)
        self.assertEqual(['GPU k', 'HOST_TO_DEVICE'], sorted({line.split(',')[0] for line in top.out.split('\n')[1:-1]}))
        callers = run('top', '--by', 'kernel', '--callers', '-n', '1', path)
        self.assertFine(callers)
        self.assertIn('cudaLaunchKernel_v7000', callers.out)
        stacks = run('flame', '--folded', '--by', 'kernel', path)
        self.assertFine(stacks)
        self.assertEqual({'step;cudaLaunchKernel_v7000;GPU k': 500, 'step;inner;cudaLaunchKernel_v7000;GPU k': 200, 'step;inner;cudaMemcpyAsync_v3020;HOST_TO_DEVICE': 30,
                          'cudaLaunchKernel_v7000;GPU k': 800, '[Uncorrelated];GPU k': 1600},
                         {line.rpartition(' ')[0]: round(float(line.rpartition(' ')[2]) / NS) for line in stacks.out.split('\n')[:-1]})

    # ---- what people see

    def test_gpu_time_beside_the_host(self):
        out = run('tree', self.plain(), env=environment(LC_ALL='C.UTF-8')).out.split('\n')
        self.assertRegex(out[0], r'time [\d.]+ µs, gpu_time 3\.\d+ µs, GPU busy \d')
        self.assertIn('gpu_time', out[1])
        self.assertTrue(any('GPU k' in line for line in out), out)
        self.assertFalse('gpu_time' in run('tree', '--metric', 'time', self.path('plain.sqlite')).out)

    def test_places_of_gpus(self):
        """Streams have no time of the host: theirs stands in its place."""
        out = run('tree', '--location', 'stream', self.plain(), env=environment(LC_ALL='C.UTF-8')).out.split('\n')
        self.assertRegex(out[0], r'  gpu_time 3\.13\d* µs, stream')
        self.assertTrue(out[1].startswith('gpu_time'), out[1])

    def test_places_without_what_else_they_are_called(self):
        x = make.Export()
        x.name_thread(x.thread, 'worker')
        x.launch('k', (10, 30), (40, 90))
        x.launch('k', (110, 130), (140, 160), thread=make.global_tid(tid=12))
        path = x.write(self.path('named.sqlite'))
        for place, metric, expected in (('device 0', 'gpu_time', 70e-9), ('thread 1', 'time', 20e-9), ('thread 1 (worker)', 'time', 20e-9), ('process 1000', 'time', 40e-9)):
            root = run('tree', '--json', '--location', place, '--metric', metric, path).json['root']
            self.assertAlmostEqual(expected, root['values'][metric]['inclusive'], 15, place)
        self.assertFails(run('tree', '--location', 'device', '--location', 'thread 3', path), 2, "no location 'thread 3'")

    def test_busy(self):
        """0 … 6600 in all; kernels 150 … 250, 600 … 800, 2100 … 2500, 3000 … 3800, 5000 … 6600 and a copy within the second."""
        path = self.plain()
        self.assertIn('busy 47 %', run('info', path).out.replace('47.0 %', '47 %'))
        gpus = run('info', '--json', path).json['gpus']
        self.assertEqual(1, len(gpus))
        self.assertAlmostEqual(3100 / 6600, gpus[0]['busy'])
        self.assertAlmostEqual(3100 / 6600, gpus[0]['kernels'])

    # ---- aside

    def test_waits_stand_aside(self):
        """solve: 8900 without 50 and 500; main: 1100; the wait of 480, and that no kernel ran for 8350 - 500 of solve, are in none of them."""
        path = self.with_paths()
        total = 10000 + 500  # the ranges, and the kernel
        by_path = nodes(self.tree(path)['root'])
        wait = ('main', 'solve', 'cudaStreamSynchronize_v3020', 'STREAM_SYNCHRONIZE', 'WAIT')
        self.assertTrue(by_path[wait]['aside'])
        idle = ('main', 'solve', 'GPU IDLE')
        self.assertEqual({wait, idle}, {p for p, n in by_path.items() if n.get('aside')})
        self.assertEqual(7850, round(by_path[idle]['values']['time']['inclusive'] / NS))
        self.assertEqual(480, round(by_path[wait]['values']['time']['inclusive'] / NS))
        self.assertEqual(total, round(by_path[('main',)]['values']['time']['inclusive'] / NS))
        rows = run('sql', '--json', path, "select c.name, n.inclusive from node n join context c on c.id = n.context join metric m on m.id = n.metric where m.name = 'time'").json
        inclusive = {r['name']: round(r['inclusive'] / NS) for r in rows}
        self.assertEqual((total, 500, 480), (inclusive['main'], inclusive['STREAM_SYNCHRONIZE'], inclusive['WAIT']))
        self.assertIn('WAIT (aside)', run('tree', '--all', path, env=environment(LC_ALL='C.UTF-8')).out)
        stacks = run('flame', '--folded', path)
        self.assertFalse('WAIT' in stacks.out)
        self.assertEqual(total, round(sum(float(line.rpartition(' ')[2]) for line in stacks.out.split('\n')[:-1]) / NS))

    def test_other_formats(self):
        path = self.with_paths()
        result = run('convert', path, self.path('out.cubex'))
        self.assertEqual(0, result.status, result)
        self.assertIn('2 contexts stand aside', result.err)
        total = 10000 + 500
        for target, asides in (('out.cubex', 480 + 7850), ('db', 0)):
            if target == 'db':
                self.assertFalse('aside' in run('convert', '--to', 'hpctoolkit-4', path, self.path(target)).err)
            root = self.tree(self.path(target))['root']
            time = next(v for k, v in root['values'].items() if k == 'time' or k.startswith('time'))
            self.assertEqual(total + asides, round(time['inclusive'] / NS), target)

    def test_algebra(self):
        """Another wait changes nothing but itself; what is cut off takes nothing along."""
        path, x = self.with_paths(), make.Export()
        x.region('main', 0, 10000)
        x.region('main->solve', 100, 9000)
        x.launch('k', (200, 250), (300, 800))
        x.call('cudaStreamSynchronize_v3020', 400, 900)
        x.sync(3, 410, 510)
        other = x.write(self.path('other.sqlite'))
        cut = run('cut', '--prune', 'WAIT', '--prune', 'GPU IDLE', path, '-o', self.path('cut.cubex'))
        self.assertEqual(0, cut.status, cut)
        self.assertEqual(10500, round(self.tree(self.path('cut.cubex'))['root']['values']['time']['inclusive'] / NS))
        diff = run('diff', '--json', '--metric', 'time', path, other)
        self.assertEqual(0, diff.status, diff)
        changes = {n['name']: round(n['values']['time']['change']['inclusive'] / NS) for n in nodes(diff.json['root']).values() if 'time' in n['values']}
        self.assertEqual((0, 480 - 100), (changes['main'], -changes['WAIT']))


if __name__ == '__main__':
    main()
