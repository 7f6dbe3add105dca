"""assay-mpi: several processes give the answer of one, and say what goes wrong once."""
import json
import os
import shutil
import subprocess
import sys
import unittest.mock
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ASSAY, SMALL, Case, Result, environment, main, run, run_on_terminal

ASSAY_MPI = os.path.join(os.environ['ASSAY_BUILD'], 'assay-mpi')
# Open MPI: as root too, and more processes than cores. MPI libraries leak on purpose.
# UCX and hwloc complain on standard output where a container has no /sys.
SETTINGS = {'UCX_LOG_LEVEL': 'fatal', 'HWLOC_HIDE_ERRORS': '2', 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
            'OMPI_MCA_rmaps_base_oversubscribe': '1',
            'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe', 'ASAN_OPTIONS': 'detect_leaks=0'}
RANK = '${PMI_RANK:-$OMPI_COMM_WORLD_RANK}'


def execute(n, command):
    p = subprocess.run(['mpirun', '-n', str(n), *command], stdin=subprocess.DEVNULL, capture_output=True, env=environment(**SETTINGS), timeout=120)
    # mpirun has its own to say about processes that fail; ours is what begins with our name.
    ours = [line for line in p.stderr.decode().splitlines(True) if line.startswith('assay:')]
    return Result(p.returncode, p.stdout.decode(), ''.join(ours))


def run_mpi(*args, n=3):
    return execute(n, [ASSAY_MPI, *map(str, args)])


def run_except(rank, instead, *args, n=3):
    """One process does something else instead."""
    return execute(n, ['sh', '-c', f'[ "{RANK}" = {rank} ] && {instead}; exec "$0" "$@"', ASSAY_MPI, *map(str, args)])


class Others(Case):
    """Verbs that are not shared: the first process does them."""

    def test_answers_come_once(self):
        f = self.write('a.txt', SMALL)
        for args in (['info', f], ['sql', '--json', f, 'select * from value'], ['--version'], ['convert', '--help']):
            self.assertEqual(run(*args).out, run_mpi(*args).out)

    def test_files_are_written_once(self):
        f = self.write('a.txt', SMALL)
        self.assertFine(run_mpi('convert', f, self.path('b.jsonl')))
        self.assertFine(run('convert', f, self.path('c.jsonl')))
        self.assertEqual(self.read('c.jsonl'), self.read('b.jsonl'))
        self.assertEqual(['a.txt', 'b.jsonl', 'c.jsonl'], self.files())

    def test_errors_are_said_once(self):
        self.assertFails(run_mpi('info', self.path('none.txt')), 3, 'none.txt', 'cannot open')
        self.assertFails(run_mpi('infos'), 2, "did you mean 'info'")
        self.assertFails(run_mpi('info', '--jsn'), 2, '--json')
        self.assertEqual(2, run_mpi().status)

    def test_one_process(self):
        f = self.write('a.txt', SMALL)
        self.assertEqual(run('info', f).out, run_mpi('info', f, n=1).out)

    def test_answers_are_not_shaped_for_a_terminal(self):
        """Open MPI's mpirun gives its processes one even where the answer goes to a file."""
        f = self.write('a.txt', SMALL)
        expected = run('info', f).out
        self.assertNotEqual(expected, run_on_terminal('info', f).out)
        with unittest.mock.patch('common.ASSAY', ASSAY_MPI):
            self.assertEqual(expected, run_on_terminal('info', f, env=environment(TERM='xterm', **SETTINGS)).out)

    def test_plain_assay_does_without_mpi(self):
        for program, expected in ((ASSAY, False), (ASSAY_MPI, True)):
            needed = subprocess.run(['objdump', '-p', program], check=True, capture_output=True, text=True).stdout
            self.assertEqual(expected, 'libmpi' in needed, program)


def experiment():
    """Call paths that grow in different ways, one of them not measured everywhere."""
    lines = []
    for i in range(23):
        for p in (2, 4, 8, 16, 32, 64):
            if i == 11 and p == 8:
                continue
            values = [round((i + 1) * (1 + p ** (i % 4 / 2)) * (1 + 0.01 * ((7 * i + 3 * p + k) % 5)), 9) for k in range(3)]
            lines.append(json.dumps({'params': {'p': p}, 'callpath': f'main->f{i}', 'metric': 'time', 'value': values}))
    return '\n'.join(lines) + '\n'


class Models(Case):
    """A verb that is shared: the same bytes as one process gives."""

    def setUp(self):
        super().setUp()
        self.input = self.write('in.jsonl', experiment())

    def test_answers_are_the_same(self):
        for options in (['--json'], ['--csv', '--sort', 'error'], ['--modeler', 'segmented', '--json'], ['--json', '--match', 'f1$'], ['--why', 'main->f3'], []):
            one = run('model', *options, self.input)
            self.assertEqual(0, one.status)
            for n in (2, 5):
                several = run_mpi('model', *options, self.input, n=n)
                self.assertEqual((one.status, one.out, one.err), (several.status, several.out, several.err), options)

    def test_files_are_the_same(self):
        for name in ('extra-p', 'json'):
            self.assertEqual(0, run('model', self.input, '-o', self.path('one.' + name)).status)
            self.assertEqual(0, run_mpi('model', self.input, '-o', self.path('three.' + name)).status)
            self.assertEqual(self.read('one.' + name), self.read('three.' + name))

    def test_several_parameters(self):
        text = 'PARAMETER p\nPARAMETER n\nPOINTS ' + ' '.join(f'({p} {n})' for p in (2, 4, 8, 16, 32) for n in (1, 2, 3, 4, 5)) + '\nMETRIC time\n'
        for i in range(4):
            text += f'REGION f{i}\n' + ''.join(f'DATA {1 + i * p + n * n}\n' for p in (2, 4, 8, 16, 32) for n in (1, 2, 3, 4, 5))
        f = self.write('two.txt', text)
        one, several = run('model', '--json', f), run_mpi('model', '--json', f)
        self.assertEqual((0, one.out), (several.status, several.out))
        self.assertEqual(4, len(several.json['models']))

    def test_errors_of_all_are_said_once(self):
        broken = self.write('broken.jsonl', experiment() + '{"params": {"p": 2}, "callpath": 3}\n')
        self.assertFails(run_mpi('model', self.path('none.txt')), 3, 'none.txt', 'cannot open')
        self.assertFails(run_mpi('model', broken), 3, 'broken.jsonl:138')
        self.assertFails(run_mpi('model', '--match', 'nothing', self.input), 2, 'nothing')
        self.assertFails(run_mpi('model', '--modeler', 'best', self.input), 2, 'best')
        self.assertFails(run_mpi('model', '-q', '-o', self.path('no/such.extra-p'), self.input), 3, 'no/such.extra-p')
        self.assertFails(run_mpi('model', '-'), 2, 'standard input')
        self.assertEqual(['broken.jsonl', 'in.jsonl'], self.files())

    def test_the_error_of_one_ends_all(self):
        for rank in range(3):
            r = run_except(rank, f'exec "$0" model {self.path("none.txt")}', 'model', self.input, '-o', self.path('out.extra-p'))
            self.assertFails(r, 3, 'none.txt: cannot open', 'rank' if rank else 'assay: ')
            r = run_except(rank, 'exec "$0" model', 'model', self.input)
            self.assertFails(r, 2, 'needs a file')
        self.assertEqual(['in.jsonl'], self.files())

    def test_processes_with_different_work_do_not_wait(self):
        self.assertFails(run_except(1, 'exec "$0" --version', 'model', self.input), 3, 'do not have the same to do')

    def test_a_process_that_dies_ends_all(self):
        r = run_except(1, 'kill -9 $$', 'model', self.input, '-o', self.path('out.extra-p'))
        self.assertNotEqual(0, r.status)
        self.assertNotIn('out.extra-p', self.files())


def nested():
    """Records of a tree of call paths, point by point; two metrics, several places in some, not everything measured everywhere."""
    records = []
    for p in (2, 4, 8, 16, 32, 64):
        for i in range(20):
            path = '->'.join(['main', f'phase{i % 3}', f'step{i % 5}', f'kernel{i}'][:1 + i % 4])
            for metric in ('time', 'bytes'):
                if (i + p) % 11 == 5 or (metric == 'bytes' and i % 3 == 0):
                    continue
                values = [(i + 1) * p ** (i % 3) + k for k in range(3)] if metric == 'bytes' else [round((i + 1) * (3 + p ** 0.5) + 0.01 * k, 9) for k in range(2)]
                records.append((p, path, metric, [[v, 0, v / 2] for v in values] if i % 7 == 6 else values))
    return records


def records_of(records, params='params', separator=','):
    text = ''
    for p, path, metric, values in records:
        members = (f'"{params}":{{"p":{p}}}', f'"metric":"{metric}"', f'"callpath":"{path}"', f'"value":{json.dumps(values)}', f'"host":"n{p}"')
        text += '{' + separator.join(members) + '}\n'
    return text


class Shares(Case):
    """Each process reads the values of its call paths: whatever the input, the answer is that of one process that reads all."""

    def assertSame(self, *args, status=0):
        one = run('model', *args)
        self.assertEqual(status, one.status, one)
        several = run_mpi('model', *args, n=4)
        self.assertEqual((one.status, one.out, one.err), (several.status, several.out, several.err), args)

    def assertSameFile(self, *args, name='x.extra-p'):
        for first, runs in (('one-', run), ('four-', lambda *a: run_mpi(*a, n=4))):
            self.assertEqual(0, runs('model', '-q', *args, '-o', self.path(first + name)).status, args)
        self.assertEqual(self.read('one-' + name), self.read('four-' + name), args)

    def test_formats(self):
        inputs = [self.write('a.jsonl', records_of(nested())), self.write('a.talpas', records_of(nested(), 'parameters', ';'))]
        for name in ('b.json', 'b.extra-p'):
            inputs.append(self.path(name))
            self.assertFine(run('convert', '-q', inputs[0], inputs[-1]))
        text = 'PARAMETER p\nPOINTS 1 2 4 8 16 32\n'
        for i in range(12):  # the last points are missing here and there
            text += f'METRIC {"time" if i % 2 else "bytes"}\nREGION main->a{i // 2}\n' + ''.join(f'DATA {(i + 1) * p} {i + p}\n' for p in (1, 2, 4, 8, 16, 32)[:6 - i % 5 // 3])
        inputs.append(self.write('ragged.txt', text))
        for f in inputs:
            self.assertSame('--json', f)
            self.assertSameFile(f)

    def test_stored_statistics(self):
        measurements = {}
        for i in range(12):
            points = [{'coordinate': [p], 'repetitions': 4, **{k: (i + 1) * p + d for k, d in (('mean', 0.5), ('median', 0.25), ('minimum', 0), ('maximum', 1))}, 'std': 0.1}
                      for p in (1, 2, 4, 8, 16) if (i, p) != (5, 8)]
            measurements[f'main->f{i}'] = {'time': points}
        with zipfile.ZipFile(self.path('a.extra-p'), 'w') as z:
            z.writestr('experiment.json', json.dumps({'Extra-P': '4.2.5', 'scaling': 'weak', 'parameters': ['p'], 'measurements': measurements,
                                                      'callpaths': {}, 'metrics': {}, 'modelers': []}))
        f = self.path('a.extra-p')
        self.assertSame('--json', f)
        self.assertSame('--json', '--measure', 'median', f)
        self.assertSameFile(f)
        self.assertSameFile(f, name='x.sqlite')

    def test_several_files(self):
        records = nested()
        for kind, pick in (('points', lambda r: r[0] < 16), ('paths', lambda r: len(r[1]) % 2), ('metrics', lambda r: r[2] == 'time')):
            a = self.write(f'{kind}-a.jsonl', records_of(filter(pick, records)))
            b = self.write(f'{kind}-b.jsonl', records_of(r for r in records if not pick(r)))
            self.assertSame('--json', a, b)
            self.assertSameFile(a, b)
        self.assertSame('--json', a, a)
        self.assertFine(run('convert', '-q', self.write('in.jsonl', experiment()), self.path('in.extra-p')))
        self.assertSame('--json', a, self.path('in.extra-p'))

    def test_choices(self):
        f = self.write('a.jsonl', records_of(nested()))
        for options in (['--match', 'kernel'], ['--match', '^main$'], ['--metric', 'bytes'], ['--metric', 'time', '--match', 'step1'], ['--min-share', '5'],
                        ['--min-share', '5%', '--metric', 'bytes'], ['--scaling', 'weak_threaded'], ['--scaling', 'strong'],
                        ['--scaling', 'strong', '--processes', 'p'], ['--measure', 'maximum', '--modeler', 'refining'], ['-O', 'allow_log_terms=false']):
            self.assertSame('--json', *options, f)
        self.assertSame('--why', 'kernel3', f)
        self.assertSame('--plot', 'kernel3', '--metric', 'time', '--ascii', f)
        self.assertSame('--print', 'all', f)
        self.assertSame(f)
        self.assertSame('--match', 'kernel', '--min-share', '99', f, status=2)

    def test_a_bad_number_is_said_as_by_one(self):
        text = 'PARAMETER p\nPOINTS 1 2 4\n' + ''.join(f'REGION f{i}\nDATA {i}\nDATA 2\nDATA 3\n' for i in range(9))
        for i in range(1, 9):
            self.assertSame(self.write('a.txt', text.replace(f'DATA {i}\nDATA 2\n', f'DATA {i}\nDATA two\n')), status=3)

    def fates(self, *options):
        """How it ends where the second of two processes finds a bad number in one call path, for each call path."""
        good = 'PARAMETER p\nPOINTS 1 2 4 8 16\nMETRIC time\n' + ''.join(f'REGION main->f{i}\nDATA {i + 10}\nDATA 91\nDATA 91\nDATA 92\nDATA 92\n' for i in range(8))
        f, fates = self.write('good.txt', good), []
        expected = run('model', '--json', *options, f).out
        for i in range(8):
            bad = self.write('bad.txt', good.replace(f'DATA {i + 10}\n', 'DATA x\n'))
            r = run_except(1, f'exec "$0" model --json {" ".join(options)} {bad}', 'model', '--json', *options, f, n=2)
            if r.status == 0:
                self.assertEqual(expected, r.out)
            else:
                self.assertFails(r, 3, 'rank 1: ', 'bad.txt', "'x' is not a number")
            fates.append(r.status)
        return fates

    def test_values_of_others_are_not_read(self):
        self.assertEqual({0, 3}, set(self.fates()))

    def test_values_of_others_are_read_where_they_matter(self):
        self.assertEqual({3}, set(self.fates('--min-share', '1')))
        self.assertEqual({3}, set(self.fates('--scaling', 'strong')))


if __name__ == '__main__':
    if not shutil.which('mpirun') or not os.path.exists(ASSAY_MPI):
        print('no mpirun, or assay was built without MPI')
        sys.exit(77)
    main()
