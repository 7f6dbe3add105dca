"""convert: targets, losses, and that nothing is ever half-written."""
import os
import json
import resource
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ASSAY, BROKEN, SMALL, Case, environment, main, run
from cubex import anchor, index, metric, processes, rows, tar, tree


class Targets(Case):
    def test_by_ending_and_by_name(self):
        f = self.write('a.txt', SMALL)
        for out, name, options in (('b.jsonl', 'extrap-jsonl', []), ('b.json', 'extrap-json', []), ('b.dat', 'extrap-talpas', ['--to', 'extrap-talpas']), ('b.TXT', 'extrap-text', [])):
            r = run('convert', *options, f, self.path(out))
            self.assertFine(r)
            self.assertEqual('', r.out)
            info = run('info', '--json', self.path(out)).json
            self.assertEqual((name, 16, 4, ['p', 'n']), (info['format'], info['values'], info['points'], info['parameters']))

    def test_output_option(self):
        f = self.write('a.txt', SMALL)
        self.assertFine(run('convert', f, '-o', self.path('b.jsonl')))
        self.assertEqual(['a.txt', 'b.jsonl'], self.files())

    def test_standard_output_and_input(self):
        r = run('convert', '--to', 'extrap-text', '-', '-', stdin=SMALL)
        self.assertFine(r)
        self.write('b.txt', r.out)
        self.assertEqual(16, run('info', '--json', self.path('b.txt')).json['values'])
        self.assertFails(run('convert', '-', '-', stdin=SMALL), 2, '--to')
        self.assertFails(run('convert', '--to', 'sqlite', '-', '-', stdin=SMALL), 2, 'standard output')

    def test_database(self):
        f = self.write('a.txt', SMALL)
        self.assertFine(run('convert', f, self.path('b.sqlite')))
        self.assertFine(run('convert', '--to', 'sqlite', f, self.path('b.other')))
        for name in ('b.sqlite', 'b.other'):
            db = sqlite3.connect(self.path(name))
            self.assertEqual([(16, 1 + 1.5 + 2 + 2.5 + 3 + 3.5 + 4 + 4.5 + 10 + 11 + 20 + 21 + 30 + 31 + 40 + 41)], db.execute('select count(*), sum(value) from value').fetchall())
            db.close()
        self.assertEqual(['a.txt', 'b.other', 'b.sqlite'], self.files())

    def test_unknown_targets(self):
        f = self.write('a.txt', SMALL)
        self.assertFails(run('convert', '--to', 'extrap-jsn', f, self.path('b')), 2, 'did you mean')
        for name, words in (('b.unknown', "name one with --to; 'assay formats' lists"), ('b', "'assay formats' lists"), ('b.d/x', "'assay formats' lists"),
                            ('b.speedscope', 'did you mean --to speedscope?'), ('b.Perfetto', 'did you mean --to perfetto?'), ('b.prof', 'did you mean --to pprof?'),
                            ('b.svg', "'assay flame' and 'assay trace' draw"), ('b.html', "'assay report' makes")):
            self.assertFails(run('convert', f, self.path(name)), 2, words)
        self.assertFails(run('convert', '--to', 'extrap-3', f, self.path('b')), 2, 'not written')
        self.assertFails(run('convert', f), 2, 'output')
        self.assertEqual(['a.txt'], self.files())

    def test_several_inputs_become_one(self):
        self.write('a.txt', SMALL)
        self.write('b.txt', SMALL.replace('(1 20) (2 20)', '(1 30) (2 30)'))
        self.assertFine(run('convert', self.path('a.txt'), self.path('b.txt'), self.path('c.txt')))
        info = run('info', '--json', self.path('c.txt')).json
        self.assertEqual((6, 32), (info['points'], info['values']))
        self.write('d.txt', 'PARAMETER q\nPOINTS 1\nMETRIC time\nREGION x\nDATA 1\n')
        self.assertFails(run('convert', self.path('a.txt'), self.path('d.txt'), self.path('e.txt')), 2, 'same parameters')
        self.assertNotIn('e.txt', self.files())

    def test_report(self):
        f = self.write('a.txt', SMALL)
        r = run('convert', '--json', f, self.path('b.jsonl'))
        self.assertFine(r)
        self.assertEqual({'inputs': [f], 'output': self.path('b.jsonl'), 'format': 'extrap-jsonl', 'losses': []}, r.json)


class Losses(Case):
    # Text cannot hold a call path that misses points.
    LOSSY = '\n'.join('{"params": {"p": %d}, "callpath": "%s", "metric": "time", "value": 1}' % (p, c) for p, c in ((1, 'a'), (2, 'a'), (3, 'a'), (1, 'b'), (3, 'b'))) + '\n'

    def setUp(self):
        super().setUp()
        self.file = self.write('a.jsonl', self.LOSSY)

    def test_notes(self):
        r = run('convert', self.file, self.path('b.txt'))
        self.assertEqual((0, ''), (r.status, r.out), r)
        self.assertRegex(r.err, r'\A(assay: note: extrap-text cannot hold [^\n]+\n)+\Z')
        self.assertFine(run('convert', '-q', self.file, self.path('c.txt')))
        self.assertEqual(['a.jsonl', 'b.txt', 'c.txt'], self.files())
        self.assertEqual(run('convert', '--json', '-q', self.file, self.path('b.txt')).json['losses'],
                         [line.removeprefix('assay: note: extrap-text cannot hold ') for line in r.err.splitlines()])

    def test_strict_refuses(self):
        r = run('convert', '--strict', '-q', self.file, self.path('b.txt'))
        self.assertFails(r, 1, '--strict', 'cannot hold')
        self.assertEqual(['a.jsonl'], self.files())
        self.assertFine(run('convert', '--strict', self.file, self.path('b.jsonl')))

    def test_lines_of_calls(self):
        """Told where the target has no place for them; those that can be read back have them where nothing is told."""
        program = tree('main(f)').replace('<cnode id="1"', '<cnode line="12" mod="call.c" id="1"')
        source = self.write('call.cubex', tar({'0.index': index([0, 1]), '0.data': rows('DOUBLE', ((1,), (2,))), 'anchor.xml': anchor(metric(0, 'time'), program, processes(1))}))
        for form in ('cube', 'pprof', 'callgrind', 'hpctoolkit-2021', 'hpctoolkit-4', 'folded', 'speedscope', 'afperf', 'perun'):
            with self.subTest(form):
                losses = run('convert', '--json', '-q', '--to', form, source, self.path(form)).json['losses']
                is_kept = 'the line of the call of 1 context' not in losses
                self.assertEqual(form in ('cube', 'pprof', 'callgrind', 'hpctoolkit-2021'), is_kept)
                if form != 'callgrind':
                    self.assertEqual([{'line': 12 if is_kept else None}], run('sql', '--json', self.path(form), "select line from context where name = 'f'").json)

    def test_what_cannot_be_written_loses_nothing(self):
        self.assertFails(run('convert', self.file, self.path('nowhere/b.txt')), 3, 'nowhere')
        self.assertFails(run('convert', '--to', 'hpctoolkit-4', self.file, self.path('db')), 3, 'one run')


class NothingHalfWritten(Case):
    def setUp(self):
        super().setUp()
        self.file = self.write('a.txt', SMALL)

    def unchanged(self, *further):
        self.assertEqual(sorted(['a.txt', *further]), self.files())
        self.assertEqual(SMALL.encode(), self.read('a.txt'))

    def test_output_equal_to_an_input(self):
        os.symlink('a.txt', self.path('link.txt'))
        os.link(self.file, self.path('hard.txt'))
        for out in ('a.txt', './a.txt', 'link.txt', 'hard.txt'):
            self.assertFails(run('convert', 'a.txt', out, cwd=self.folder), 3, out, 'input')
        self.assertFails(run('convert', '--to', 'sqlite', 'a.txt', 'link.txt', cwd=self.folder), 3, 'input')
        with open(self.file, 'ab') as f:
            p = subprocess.run([ASSAY, 'convert', '--to', 'extrap-text', self.file, '-'], stdout=f, stderr=subprocess.PIPE)
        self.assertEqual(3, p.returncode)
        self.unchanged('hard.txt', 'link.txt')

    def test_output_is_a_directory_or_has_none(self):
        os.mkdir(self.path('d.txt'))
        self.assertFails(run('convert', self.file, self.path('d.txt')), 3, 'directory')
        self.assertFails(run('convert', self.file, self.path('no/b.txt')), 3, 'b.txt', 'No such file')
        self.assertFails(run('convert', self.file, self.path('no/b.sqlite')), 3, 'b.sqlite')
        self.assertEqual([], os.listdir(self.path('d.txt')))
        self.unchanged('d.txt')

    def test_broken_input_leaves_the_old_output(self):
        bad = self.write('bad.txt', BROKEN)
        self.write('b.jsonl', 'old')
        self.assertFails(run('convert', bad, self.path('b.jsonl')), 3, 'bad.txt:13:')
        self.assertEqual(b'old', self.read('b.jsonl'))
        self.unchanged('b.jsonl', 'bad.txt')

    def test_full_disk(self):
        self.assertFails(run('convert', '--to', 'extrap-text', self.file, '/dev/full'), 3, '/dev/full', 'No space left')
        for command in (['info', self.file], ['info', '--json', self.file], ['--version'], ['--help'], ['convert', '--to', 'extrap-text', self.file, '-']):
            with open('/dev/full', 'wb') as full:
                p = subprocess.run([ASSAY, *command], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(3, p.returncode, command)
            self.assertRegex(p.stderr.decode(), r'\Aassay: [^\n]*No space left[^\n]*\n\Z')

    def test_file_size_limit(self):
        big = self.write('big.txt', SMALL + ''.join(f'REGION r{i}\nDATA {i} 1\nDATA {i} 2\nDATA {i} 3\nDATA {i} 4\n' for i in range(20000)))
        self.write('b.jsonl', 'old')

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

        for out in ('b.jsonl', 'b.extra-p', 'b.sqlite', 'new.txt'):
            if out == 'b.sqlite':
                self.write(out, 'old')
            r = run('convert', big, self.path(out), preexec_fn=limit)
            self.assertEqual((3, ''), (r.status, r.out), r)
            self.assertOneLine(r, out)
        self.assertEqual((b'old', b'old'), (self.read('b.jsonl'), self.read('b.sqlite')))
        self.unchanged('b.jsonl', 'b.sqlite', 'big.txt')

    def test_output_of_a_failed_command(self):
        self.write('out.json', 'old')
        r = run('info', '--json', '-o', self.path('out.json'), self.file, self.path('none.txt'))
        self.assertEqual((3, ''), (r.status, r.out))
        self.assertEqual(b'old', self.read('out.json'))
        self.assertFine(run('info', '--json', '-o', self.path('out.json'), self.file))
        self.assertIn(b'extrap-text', self.read('out.json'))
        self.unchanged('out.json')

    def test_closed_pipe_is_quiet(self):
        big = self.write('big.txt', SMALL + ''.join(f'REGION r{i}\nDATA {i} 1\nDATA {i} 2\nDATA {i} 3\nDATA {i} 4\n' for i in range(20000)))
        p = subprocess.Popen([ASSAY, 'convert', '--to', 'extrap-jsonl', big, '-'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdout.read(10)
        p.stdout.close()
        self.assertEqual(b'', p.stderr.read())
        p.stderr.close()
        self.assertEqual(0, p.wait(60))

    def test_closed_standard_output(self):
        p = subprocess.run(f'"{ASSAY}" info "{self.file}" >&-', shell=True, capture_output=True)
        self.assertEqual(3, p.returncode)
        self.assertEqual(1, p.stderr.count(b'\n'))

    def test_interrupt_leaves_the_old_file(self):
        self.write('b.jsonl', 'old')
        fifo = self.path('fifo')
        os.mkfifo(fifo)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # The answer's file is open while the input has not come: a temporary file lies beside it.
            p = subprocess.Popen([ASSAY, 'info', '--json', '-o', self.path('b.jsonl'), fifo], stderr=subprocess.PIPE, env=environment(),
                                 preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)])
            until = time.monotonic() + 30
            while len(self.files()) == 3 and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual(4, len(self.files()), 'no temporary file was seen')
            p.send_signal(number)
            self.assertEqual(b'', p.stderr.read())
            p.stderr.close()
            self.assertEqual(-number, p.wait(30))
            self.assertEqual(b'old', self.read('b.jsonl'))
            self.unchanged('b.jsonl', 'fifo')


class LargeExperiments(Case):
    """Documents beyond 32 MiB are written as they are made."""

    N_PATHS, N_POINTS = 26000, 7

    def value(self, path, point):
        return path % 1000 / 7 + point * 1.1

    def write_large(self):
        lines = ['PARAMETER p', 'POINTS ' + ' '.join(str(2 ** i) for i in range(self.N_POINTS)), 'METRIC time']
        for path in range(self.N_PATHS):
            lines.append(f'REGION main->step{path % 10}->kernel_number_{path}')
            lines += [f'DATA {self.value(path, point)!r} {self.value(path, point) * 1.01!r}' for point in range(self.N_POINTS)]
        return self.write('a.txt', '\n'.join(lines) + '\n')

    def convert_to_stdout(self, source, target, **more):
        with open(self.path(target), 'wb') as out, subprocess.Popen([ASSAY, 'convert', '--to', 'extrap-experiment', source, '-'], stdout=subprocess.PIPE, env=environment(), **more) as p:
            for block in iter(lambda: p.stdout.read(1 << 20), b''):
                out.write(block)
        self.assertEqual(0, p.returncode)

    def test_all_readers_take_them_and_bytes_are_always_the_same(self):
        source = self.write_large()
        self.assertFine(run('convert', source, self.path('b.extra-p')))
        with zipfile.ZipFile(self.path('b.extra-p')) as z:
            self.assertIsNone(z.testzip())
            info = z.getinfo('experiment.json')
            self.assertGreater(info.file_size, 32 << 20)
            self.assertLess(info.compress_size, info.file_size / 2)
            document = json.loads(z.read(info))
        self.assertEqual(self.N_PATHS, len(document['measurements']))
        for path in (0, 1, 12345, self.N_PATHS - 1):
            measurements = document['measurements'][f'main->step{path % 10}->kernel_number_{path}']['time']
            self.assertEqual([self.value(path, point) for point in range(self.N_POINTS)], [m['minimum'] for m in measurements])
        n = self.N_PATHS * self.N_POINTS * 2
        again = run('sql', '--csv', self.path('b.extra-p'), 'select count(*), max(value) from value')
        self.assertFine(again)
        count, largest = again.out.split()[1].split(',')
        self.assertEqual((n, max(self.value(path, self.N_POINTS - 1) * 1.01 for path in range(1000))), (int(count), float(largest)))

        # Neither a pipe nor the number of cores changes the bytes.
        expected = self.read('b.extra-p')
        self.convert_to_stdout(source, 'c.extra-p')
        self.assertTrue(expected == self.read('c.extra-p'), 'a pipe gets other bytes')
        core = min(os.sched_getaffinity(0))
        self.convert_to_stdout(source, 'd.extra-p', preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        self.assertTrue(expected == self.read('d.extra-p'), 'one core makes other bytes')

        # A disk that is full in the middle of the document leaves the file as it was.
        limit = len(expected) - (1 << 20)
        r = run('convert', source, self.path('b.extra-p'), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertFails(r, 3, 'b.extra-p')
        self.assertTrue(expected == self.read('b.extra-p'))
        self.assertEqual(['a.txt', 'b.extra-p', 'c.extra-p', 'd.extra-p'], self.files())


if __name__ == '__main__':
    main()
