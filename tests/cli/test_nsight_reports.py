"""assay stat --report: the reports of nsys stats, from the rows that were put into an export."""
import csv
import io
import os
import random
import statistics

import nsight_make as make
from common import Case, environment, main, run, run_on_terminal

KERNEL_HEADS = ['Time (%)', 'Total Time (ns)', 'Instances', 'Avg (ns)', 'Med (ns)', 'Min (ns)', 'Max (ns)', 'StdDev (ns)', 'Name']
REPORTS = ['cuda_gpu_kern_sum', 'cuda_api_sum', 'cuda_gpu_mem_time_sum', 'cuda_gpu_mem_size_sum', 'cuda_gpu_sum', 'cuda_api_gpu_sum', 'nvtx_sum', 'nvtx_pushpop_sum', 'nvtx_startend_sum', 'osrt_sum']


def expected(amounts, count='Instances', label='Name', unit='ns', scale=1):
    """The rows of a report: amounts, by name."""
    whole = sum(map(sum, amounts.values()))
    total = 'Total Time (ns)' if unit == 'ns' else 'Total (MB)'
    rows = []
    for name, a in amounts.items():
        share = {} if unit == 'MB' else {'Time (%)': 100 * sum(a) / whole if whole else 0}
        rows.append({**share, total: sum(a) / scale, count: len(a), f'Avg ({unit})': sum(a) / len(a) / scale, f'Med ({unit})': statistics.median(a) / scale, f'Min ({unit})': min(a) / scale,
                     f'Max ({unit})': max(a) / scale, f'StdDev ({unit})': (statistics.stdev(a) if len(a) > 1 else 0) / scale, label: name})
    return sorted(rows, key=lambda r: (-r[total], r[label]))


class Reports(Case):
    def report(self, name, *paths):
        result = run('stat', '--report', name, '--json', *paths)
        self.assertFine(result)
        return result.json

    def assertRows(self, rows, report):
        self.assertEqual([list(r) for r in rows], [list(r) for r in report['rows']])
        for row, got in zip(rows, report['rows']):
            for key, value in row.items():
                if isinstance(value, str):
                    self.assertEqual(value, got[key], got)
                else:
                    self.assertAlmostEqual(value, got[key], delta=1e-9 * abs(value) + 1e-12, msg=f'{key} of {got}')

    def export(self, flavour=make.CURRENT, seed=1):
        """All kinds of activities; gives its path and what is in it, {kind: {name: lengths}}."""
        r = random.Random(seed)
        x, has = make.Export(flavour), {}

        def note(kind, name, amount):
            has.setdefault(kind, {}).setdefault(name, []).append(amount)

        now = 10**15
        x.domain('NCCL')
        for i in range(200):
            now += 10000
            a, b = r.randrange(1, 900), r.randrange(1, 5000)
            n = r.randrange(5)
            short, full = f'k{n // 2}', f'void k{n // 2}<{n}>(int)'
            x.call('cudaLaunchKernel_v7000', now, now + a)
            x.kernel(short, now + 1000, now + 1000 + b, demangled=full, mangled=f'_Z{n}', stream=7 + n % 2)
            note('kernel', full, b), note('base', short, b), note('mangled', f'_Z{n}' if flavour != make.OLD else full, b), note('api', 'cudaLaunchKernel', a)
            kind, words = r.choice([(1, 'Host-to-Device'), (2, 'Device-to-Host'), (8, 'Device-to-Device'), (11, 'Unified Host-to-Device')])
            size = r.randrange(10**7)
            x.call(r.choice(['cudaMemcpyAsync_v3020', 'cudaMemcpyAsync_v3020']), now + 6000, now + 6000 + a)
            x.copy(kind, now + 6100, now + 6100 + b, bytes=size)
            note('memory', f'[CUDA memcpy {words}]', b), note('size', f'[CUDA memcpy {words}]', size), note('api', 'cudaMemcpyAsync', a)
            x.range(f'step {n}', now, now + 7000 + a, domain=n % 2 * x.domains['NCCL'])
            note('nvtx', ('NCCL' if n % 2 else '') + f':step {n}', 7000 + a)
            x.osrt(f'f{n}', now, now + a)
            note('osrt', f'f{n}', a)
        x.call('cudaMemset_v3020', now + 9000, now + 9010)
        x.memset(3, now + 9020, now + 9050, bytes=77)
        note('api', 'cudaMemset', 10), note('memory', '[CUDA memset]', 30), note('size', '[CUDA memset]', 77)
        return x.write(self.path('export.sqlite')), has

    def test_kernels(self):
        for flavour in make.FLAVOURS:
            path, has = self.export(flavour)
            self.assertRows(expected(has['kernel']), self.report('cuda_gpu_kern_sum', path))
            self.assertRows(expected(has['base']), self.report('cuda_gpu_kern_sum:base', path))
            self.assertRows(expected(has['mangled']), self.report('cuda_gpu_kern_sum:mangled', path))
            os.remove(path)

    def test_others(self):
        path, has = self.export()
        self.assertRows(expected(has['api'], 'Num Calls'), self.report('cuda_api_sum', path))
        self.assertRows(expected(has['osrt'], 'Num Calls'), self.report('osrt_sum', path))
        self.assertRows(expected(has['memory'], 'Count', 'Operation'), self.report('cuda_gpu_mem_time_sum', path))
        self.assertRows(expected(has['size'], 'Count', 'Operation', 'MB', 1e6), self.report('cuda_gpu_mem_size_sum', path))
        self.assertRows(expected(has['nvtx'], label='Range'), self.report('nvtx_pushpop_sum', path))

    def test_what_rows_are(self):
        path, has = self.export()
        report = self.report('cuda_api_gpu_sum', path)
        self.assertEqual({'CUDA_API', 'CUDA_KERNEL', 'MEMORY_OPER'}, {r['Category'] for r in report['rows']})
        self.assertAlmostEqual(100, sum(r['Time (%)'] for r in report['rows']))
        self.assertEqual(sum(map(sum, has['kernel'].values())), sum(r['Total Time (ns)'] for r in report['rows'] if r['Category'] == 'CUDA_KERNEL'))
        self.assertEqual(len(has['kernel']) + len(has['memory']), len(self.report('cuda_gpu_sum', path)['rows']))
        self.assertEqual({'PushPop'}, {r['Style'] for r in self.report('nvtx_sum', path)['rows']})

    def test_ranges_that_do_not_count(self):
        x = make.Export()
        x.range('a', 0, 10)
        x.range('a', 20, 50, kind=make.START_END)
        x.range('a', 60, 65, kind=make.TEXT_PUSH_POP)
        x.range('never closed', 70, None)
        x.mark('here', 80)
        path = x.write(self.path('x.sqlite'))
        rows = self.report('nvtx_sum', path)['rows']
        self.assertEqual([(':a', 'StartEnd', 30, 1), (':a', 'PushPop', 15, 2)], [(r['Range'], r['Style'], r['Total Time (ns)'], r['Instances']) for r in rows])
        self.assertEqual([30], [r['Total Time (ns)'] for r in self.report('nvtx_startend_sum', path)['rows']])

    def test_call_paths_make_no_difference(self):
        """Exports with Extra-Prof data have the same activities; encoded ranges have names for people."""
        x = make.Export()
        x.encoded(['main', 'solve'], 0, 1000)
        x.launch('k', (10, 30), (40, 90))
        path = x.write(self.path('x.sqlite'))
        self.assertRows(expected({'k(int)': [50]}), self.report('cuda_gpu_kern_sum', path))
        self.assertEqual(['main->solve'], [r['Range'].split(':')[1] for r in self.report('nvtx_sum', path)['rows']])

    def test_shapes(self):
        x = make.Export()
        x.launch('saxpy', (0, 1500), (2000, 1236567), demangled='saxpy(int, float *)')
        x.launch('dot', (10000, 11000), (2000000, 2000001))
        x.launch('dot', (20000, 21000), (3000000, 3000002))
        path = x.write(self.path('x.sqlite'))
        text = run('stat', '--report', 'cuda_gpu_kern_sum', path)
        self.assertFine(text)
        self.assertEqual('CUDA GPU Kernel Summary (cuda_gpu_kern_sum)\n'
                         'Time (%)  Total Time (ns)  Instances     Avg (ns)     Med (ns)   Min (ns)   Max (ns)  StdDev (ns)  Name\n'
                         '   100.0        1,234,567          1  1,234,567.0  1,234,567.0  1,234,567  1,234,567          0.0  saxpy(int, float *)\n'
                         '     0.0                3          2          1.5          1.5          1          2          0.7  dot(int)\n', text.out)
        rows = list(csv.reader(io.StringIO(run('stat', '--report', 'cuda_gpu_kern_sum', '--csv', path).out)))
        self.assertEqual(KERNEL_HEADS, rows[0])
        self.assertEqual(['1234567', '1', '1234567', '1234567', '1234567', '1234567', '0', 'saxpy(int, float *)'], rows[1][1:])
        markdown = run('stat', '--report', 'cuda_gpu_kern_sum', '--md', path).out.split('\n')
        self.assertIn('| dot(int)', markdown[3])
        self.assertIn('1,234,567.0', markdown[2])
        lines = run('stat', '--report', 'cuda_gpu_kern_sum', '--jsonl', path)
        self.assertEqual(2, lines.out.count('\n'))
        self.assertFine(lines)
        first = run('stat', '--report', 'cuda_gpu_kern_sum', '-n', '1', path, env=environment(LC_ALL='C'))
        self.assertEqual('... 1 more row', first.out.split('\n')[3])

    def test_numbers_are_never_cut(self):
        """Where a terminal is narrow, columns that say least are left out and names stand below."""
        x = make.Export()
        x.launch('k', (0, 1500), (2000, 1234569567))
        path = x.write(self.path('x.sqlite'))
        for columns, left in ((200, 9), (100, 7), (60, 5)):
            out = run_on_terminal('stat', '--report', 'cuda_gpu_kern_sum', path, columns=columns, env=environment(TERM='dumb', LC_ALL='C.UTF-8')).out
            self.assertIn('1,234,567,567 ', out)
            self.assertIn('k(int)', out)
            self.assertEqual(left, sum(head in out for head in KERNEL_HEADS), out)
            self.assertTrue(max(map(len, out.split('\n'))) <= columns, out)

    def test_sizes_for_people(self):
        x = make.Export()
        x.call('cudaMemcpy_v3020', 0, 10)
        x.copy(make.TO_DEVICE, 2, 9, bytes=4194304)
        path = x.write(self.path('x.sqlite'))
        out = run('stat', '--report', 'cuda_gpu_mem_size_sum', path).out.split('\n')
        self.assertEqual(['Total (MB)  Count  Avg (MB)  Med (MB)  Min (MB)  Max (MB)  StdDev (MB)  Operation',
                          '     4.194      1     4.194     4.194     4.194     4.194        0.000  [CUDA memcpy Host-to-Device]'], out[1:3])

    def test_several_files(self):
        x, y = make.Export(), make.Export()
        x.launch('a', (0, 1), (2, 3))
        y.launch('b', (0, 1), (2, 4))
        paths = x.write(self.path('x.sqlite')), y.write(self.path('y.sqlite'))
        self.assertEqual([['a(int)'], ['b(int)']], [[r['Name'] for r in report['rows']] for report in self.report('cuda_gpu_kern_sum', *paths)])
        rows = list(csv.reader(io.StringIO(run('stat', '--report', 'cuda_gpu_kern_sum', '--csv', *paths).out)))
        self.assertEqual(['file', *KERNEL_HEADS], rows[0])
        self.assertEqual(list(paths), [r[0] for r in rows[1:]])

    def test_some_places(self):
        x = make.Export()
        for stream, device in ((7, 0), (8, 0), (7, 1)):
            x.launch('k', (0, 1), (10, 20 + stream * device + stream), stream=stream, device=device)
        x.device(0), x.device(1)
        path = x.write(self.path('x.sqlite'))
        for where, total in (('stream 8', 18), ('device=0', 17 + 18), ('device=1', 24), ('stream', 17 + 18 + 24)):
            self.assertEqual([total], [r['Total Time (ns)'] for r in self.report('cuda_gpu_kern_sum', '--location', where, path)['rows']], where)
        self.assertFails(run('stat', '--report', 'cuda_gpu_kern_sum', '--location', 'thread', path), 3, 'no CUDA kernels there')

    def test_nothing_of_the_kind(self):
        x = make.Export()
        x.osrt('poll', 0, 10)
        path = x.write(self.path('x.sqlite'))
        for name, word in (('cuda_gpu_kern_sum', 'CUDA kernels'), ('cuda_api_sum', 'CUDA API'), ('cuda_gpu_mem_size_sum', 'memsets'), ('nvtx_sum', 'NVTX')):
            self.assertFails(run('stat', '--report', name, path), 3, word, path)
        os.makedirs(self.path('set/app.n1'))
        y = make.Export()
        y.launch('k', (0, 1), (2, 3))
        y.write(self.path('set/app.n1/rank0.sqlite'))
        self.assertFails(run('stat', '--report', 'cuda_gpu_kern_sum', self.path('set')), 3, 'CUDA kernels')

    def test_names_of_reports(self):
        result = run('stat', '--report', 'cuda_gpu_kern', 'x.sqlite')
        self.assertFails(result, 2, 'cuda_gpu_kern', *REPORTS)
        self.assertFails(run('stat', '--report', 'cuda_api_sum:base', 'x.sqlite'), 2, 'cuda_api_sum:base')
        self.assertIn("did you mean 'osrt_sum'?", run('stat', '--report', 'ostr_sum', 'x.sqlite').err)
        self.assertFails(run('stat', '--report', 'osrt_sum', '--by', 'run', 'x.sqlite'), 2, '--report and --by')

    def test_broken_clocks(self):
        x = make.Export()
        x.launch('k', (0, 1), (100, 50))
        x.launch('k', (200, 201), (300, 310))
        path = x.write(self.path('x.sqlite'))
        self.assertRows(expected({'k(int)': [0, 10]}), self.report('cuda_gpu_kern_sum', path))


if __name__ == '__main__':
    main()
