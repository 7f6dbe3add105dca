"""assay trace of exports: rows of threads and streams, what nests and what does not, which depth is shown. Times in ns."""
import csv
import io
import itertools
import os
import unittest

import nsight_make as make
from common import Case, environment, main, run

UTF8 = environment(LC_ALL='C.UTF-8')


class Trace(Case):
    def trace(self, *args):
        result = run('trace', '--json', *args)
        self.assertFine(result)
        return result.json

    def picture(self, *args):
        """{label: the cells of its row} of a text."""
        result = run('trace', *args, env=UTF8)
        self.assertFine(result)
        rows = [line.split('│', 1) for line in result.out.split('\n') if '│' in line]
        return {label.strip(): cells for label, cells in rows}

    def export(self):
        """0 … 1000: a range with two calls, two streams; a call of the OS runtime within, ranges that overlap."""
        x = make.Export(make.CURRENT)
        x.range('step', 0, 800)
        x.call('cudaMalloc_v3020', 0, 200)
        x.launch('saxpy', (200, 400), (300, 700), stream=13)
        x.launch('dot', (400, 500), (500, 1000), stream=7)
        x.call('cudaMemcpyAsync_v3020', 500, 600)
        x.copy(make.TO_DEVICE, 700, 900, bytes=64, stream=13)
        x.osrt('poll', 100, 300)
        x.osrt('read', 150, 250, nesting=1)
        x.range('async', 0, 600, kind=make.START_END)
        x.range('async', 300, 900, kind=make.START_END)
        return x.write(self.path('x.sqlite'))

    def test_rows(self):
        """40 columns of 25 ns: runs of the same letter, and how many blanks lie before them."""
        rows = self.picture('--width', '54', '--depth', 'deepest', self.export())
        runs = {label: (len(cells) - len(cells.lstrip()), [len(list(group)) for _, group in itertools.groupby(cells.strip())]) for label, cells in rows.items()}
        self.assertEqual({'thread 1': (0, [8, 12, 4, 8]), 'ranges': (0, [24]), 'ranges #2': (12, [24]), 'OS runtime': (4, [2, 4, 2]), 'stream 7': (20, [20]), 'stream 13': (12, [16, 8])}, runs)
        self.assertEqual(['thread 1', 'ranges', 'ranges #2', 'OS runtime', 'stream 7', 'stream 13'], list(rows))

    def test_procedures(self):
        answer = self.trace('--depth', 'deepest', self.export())
        self.assertEqual((0, 1e-6), (answer['from'], answer['to']))
        kinds = [(row['name'], row['kind'], row.get('lane')) for row in answer['locations']]
        self.assertEqual([('thread 1', 'region', None), ('thread 1 ranges', 'range', 0), ('thread 1 ranges #2', 'range', 1), ('thread 1 OS runtime', 'osrt', 0), ('stream 7', 'region', None),
                          ('stream 13', 'region', None)], kinds)
        times = {row['name']: {p['name']: round(p['time'] * 1e9) for p in row['procedures']} for row in answer['locations']}
        self.assertEqual({'cudaMalloc_v3020': 200, 'cudaLaunchKernel_v7000': 300, 'cudaMemcpyAsync_v3020': 100, 'step': 200}, times['thread 1'])
        self.assertEqual({'poll': 100, 'read': 100}, times['thread 1 OS runtime'])
        self.assertEqual(({'async': 600}, {'async': 600}), (times['thread 1 ranges'], times['thread 1 ranges #2']))
        self.assertEqual({'GPU dot': 500}, times['stream 7'])
        self.assertEqual({'GPU saxpy': 400, 'HOST_TO_DEVICE': 200}, {k: v for k, v in times['stream 13'].items() if k != '<no activity>'})

    def test_depth(self):
        """Streams show kernels at any depth; a thread what is at this one, without its process."""
        path = self.export()
        at_one = {row['name']: {p['name'] for p in row['procedures']} for row in self.trace('--depth', '1', path)['locations']}
        self.assertEqual({'step'}, at_one['thread 1'])
        self.assertEqual({'GPU dot'}, at_one['stream 7'])
        answer = self.trace(path)
        self.assertEqual((2, 2), (answer['depth'], answer['deepest']))

    def test_window_and_places(self):
        path = self.export()
        rows = self.picture('--location', 'stream', '--width', '40', '--since', '500ns', '--until', '900ns', path)
        self.assertEqual(['stream 7', 'stream 13'], list(rows))
        self.assertEqual({'d'}, set(rows['stream 7'].lower()))
        self.assertEqual({'stream 13'}, set(self.picture('--location', 'stream=13', path)))
        self.assertEqual({'thread 1', 'ranges', 'ranges #2', 'OS runtime'}, set(self.picture('--location', 'process', path)))

    def test_list(self):
        result = run('trace', '--intervals', '--csv', self.export())
        self.assertFine(result)
        rows = list(csv.DictReader(io.StringIO(result.out)))
        self.assertEqual(12, len(rows))
        kernel = next(r for r in rows if r['name'] == 'saxpy')
        self.assertEqual(('kernel', 'stream 13', 3e-07, 7e-07), (kernel['kind'], kernel['line'], float(kernel['start']), float(kernel['end'])))
        self.assertEqual('GPU saxpy', kernel['path'].split('->')[-1])

    def test_several_processes_and_devices(self):
        x = make.Export()
        for pid in (20, 3):
            thread = make.global_tid(pid, 5)
            x.launch('k', (0, 10), (10, 20), thread=thread, device=pid % 2, stream=7)
            x.name_process(thread, f'app{pid}')
        x.device(0, name='A'), x.device(1, name='B')
        path = x.write(self.path('x.sqlite'))
        labels = [row['name'] for row in self.trace(path)['locations']]
        self.assertEqual(['process 3 (app3) thread 5', 'process 20 (app20) thread 5', 'device 0 (A) stream 7', 'device 1 (B) stream 7'], labels)

    def test_kernels_that_overlap_on_a_stream(self):
        """The one that began last is shown to its end."""
        x = make.Export()
        x.launch('a', (0, 1), (0, 600))
        x.launch('b', (2, 3), (400, 1000))
        answer = self.trace('--location', 'stream', x.write(self.path('x.sqlite')))
        self.assertEqual({'GPU a': 400, 'GPU b': 600}, {p['name']: round(p['time'] * 1e9) for p in answer['locations'][0]['procedures']})

    def test_samples(self):
        """A sample lasts until the next one; the last but one, behind which the thread slept, twice what is usual."""
        x = make.Export()
        x.range('r', 0, 10)
        for time, frames in ((0, ['main', 'f']), (100, ['main', 'g']), (200, ['main', 'f']), (300, ['main', 'g']), (1300, ['main', 'f'])):
            x.sample(time, frames)
        answer = self.trace('--depth', 'deepest', x.write(self.path('x.sqlite')))
        row = next(r for r in answer['locations'] if r['kind'] == 'sample')
        self.assertEqual('thread 1 samples', row['name'])
        self.assertEqual({'f': 200, 'g': 300}, {p['name']: round(p['time'] * 1e9) for p in row['procedures'] if p['time']})

    def test_call_paths(self):
        x = make.Export()
        x.region('main', 0, 1000)
        x.region('main->solve', 100, 900)
        x.launch('k', (200, 300), (300, 800))
        rows = self.trace('--depth', '2', x.write(self.path('x.sqlite')))['locations']
        self.assertEqual([{'main': 200, 'solve': 800}, {'GPU k': 500}], [{p['name']: round(p['time'] * 1e9) for p in row['procedures']} for row in rows])


class Corpus(Case):
    @unittest.skipUnless(os.environ.get('ASSAY_CORPUS'), 'ASSAY_CORPUS is not set: real exports are not looked at')
    def test_real(self):
        path = os.path.join(os.environ['ASSAY_CORPUS'], 'nsight', 'concurrent_example', 'concurrent.s4', 'profile4.sqlite')
        result = run('trace', '--json', path)
        self.assertFine(result)
        rows = result.json['locations']
        self.assertEqual((1, 15), (sum(r['name'].startswith('thread') for r in rows), sum(r['name'].startswith('stream') for r in rows)))


if __name__ == '__main__':
    main()
