"""assay-mpi: several processes give the answer of one, and say what goes wrong once."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ASSAY, SMALL, Case, Result, environment, main, run

ASSAY_MPI = os.path.join(os.environ['ASSAY_BUILD'], 'assay-mpi')
# Open MPI: as root too, and more processes than cores. MPI libraries leak on purpose.
SETTINGS = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_rmaps_base_oversubscribe': '1',
            'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe', 'ASAN_OPTIONS': 'detect_leaks=0'}
RANK = '${PMI_RANK:-$OMPI_COMM_WORLD_RANK}'


def execute(n, command):
    p = subprocess.run(['mpirun', '-n', str(n), *command], stdin=subprocess.DEVNULL, capture_output=True, env=environment(**SETTINGS), timeout=120)
    # mpirun has its own to say about processes that fail; ours is what begins with our name.
    ours = [line for line in p.stderr.decode().splitlines(True) if line.startswith('assay:')]
    return Result(p.returncode, p.stdout.decode(), ''.join(ours))


def run_mpi(*args, n=3):
    return execute(n, [ASSAY_MPI, *map(str, args)])


def run_except(rank, instead, *args):
    """One process does something else instead."""
    return execute(3, ['sh', '-c', f'[ "{RANK}" = {rank} ] && {instead}; exec "$0" "$@"', ASSAY_MPI, *map(str, args)])


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

    def test_plain_assay_does_without_mpi(self):
        for program, expected in ((ASSAY, False), (ASSAY_MPI, True)):
            needed = subprocess.run(['objdump', '-p', program], check=True, capture_output=True, text=True).stdout
            self.assertEqual(expected, 'libmpi' in needed, program)


if __name__ == '__main__':
    if not shutil.which('mpirun') or not os.path.exists(ASSAY_MPI):
        print('no mpirun, or assay was built without MPI')
        sys.exit(77)
    main()
