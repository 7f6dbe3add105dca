"""An installed assay serves others: C and C++ programs find it through pkg-config and through find_package(assay), wherever it was moved to."""
import glob
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

from afperf_check import Capture

BUILD = os.environ['ASSAY_BUILD']

INPUT = 'PARAMETER p\nPOINTS 1 2 4\nREGION main->f\nMETRIC time\nDATA 1 2\nDATA 3\nDATA 4.5\n'
PROGRAM = r'''
#include <assay/assay.h>
#include <stdio.h>

int main(int argc, char **argv) {
    assay_error error;
    assay_dataset *dataset;
    assay_query *query;
    bool row;
    if (argc < 2 || assay_open(argv[1], NULL, &dataset, &error) != ASSAY_OK) return 1;
    printf("%s, %d points, %d values\n", assay_format_name(dataset), (int)assay_count(dataset, ASSAY_POINTS), (int)assay_count(dataset, ASSAY_VALUES));
    if (assay_query_open(dataset, "select sum(value) as total from value", &query, &error) != ASSAY_OK) return 2;
    if (assay_query_next(query, &row, &error) != ASSAY_OK || !row) return 3;
    printf("%s = %g\n", assay_query_column_name(query, 0), assay_query_double(query, 0));
    assay_query_close(query);
    assay_close(dataset);
    if (assay_open("no-such-file", NULL, &dataset, &error) != ASSAY_E_IO) return 4;
    return 0;
}
'''
CAPTURED = r'''
#include <assay/capture.h>
static int twice(int n) { ASSAY_REGION("twice"); return 2 * n; }
int main(void) { ASSAY_REGION("main"); return twice(0); }
'''
EXPECTED = 'extrap-text, 3 points, 4 values\ntotal = 10.5\n'
CMAKE = '''cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(assay 0.1 REQUIRED)
add_executable(from_c main.c)
add_executable(from_cpp main.cpp)
add_executable(from_static main.c)
target_link_libraries(from_c assay::assay)
target_link_libraries(from_cpp assay::assay)
target_link_libraries(from_static assay::static)
add_executable(captured captured.c)
add_executable(captured_static captured.cpp)
target_link_libraries(captured assay::capture)
target_link_libraries(captured_static assay::capture_static)
'''


def run(*command, **options):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode != 0:
        raise AssertionError(f'{shlex.join(command)} ended with {result.returncode}:\n{result.stdout}')
    return result.stdout


def cached(name):
    with open(os.path.join(BUILD, 'CMakeCache.txt')) as f:
        return next((line.split('=', 1)[1].strip() for line in f if line.startswith(name + ':')), '')


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='assay-install-')
        first = os.path.join(cls.folder, 'first')
        run('cmake', '--install', BUILD, '--prefix', first)
        cls.prefix = os.path.join(cls.folder, 'moved')
        os.rename(first, cls.prefix)
        cls.input = os.path.join(cls.folder, 'small.txt')
        for name, text in (('small.txt', INPUT), ('main.c', PROGRAM), ('main.cpp', PROGRAM), ('captured.c', CAPTURED), ('captured.cpp', CAPTURED), ('CMakeLists.txt', CMAKE)):
            with open(os.path.join(cls.folder, name), 'w') as f:
                f.write(text)
        cls.flags = ['-fsanitize=address,undefined'] if cached('ASSAY_SANITIZE') == 'ON' else []
        cls.pkgconfig, = glob.glob(os.path.join(cls.prefix, 'lib*', '**', 'pkgconfig'), recursive=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def pkg_config(self, *options, module='assay'):
        return shlex.split(run('pkg-config', *options, module, env=dict(os.environ, PKG_CONFIG_PATH=self.pkgconfig)))

    def test_command(self):
        command = os.path.join(self.prefix, 'bin', 'assay')
        self.assertRegex(run(command, '--version'), r'^assay \d+\.\d+\.\d+')

    def test_mpi_command_where_it_was_built(self):
        installed = os.path.exists(os.path.join(self.prefix, 'bin', 'assay-mpi'))
        self.assertEqual(os.path.exists(os.path.join(BUILD, 'assay-mpi')), installed)

    def test_pkg_config(self):
        for compiler, source in (('cc', 'main.c'), ('c++', 'main.cpp')):
            program = os.path.join(self.folder, 'by-' + compiler)
            run(compiler, '-Wall', '-Wextra', '-Werror', '-pedantic', *self.flags, os.path.join(self.folder, source), '-o', program, *self.pkg_config('--cflags', '--libs'))
            libraries = os.path.dirname(self.pkgconfig)
            self.assertEqual(EXPECTED, run(program, self.input, env=dict(os.environ, LD_LIBRARY_PATH=libraries)), source)

    def test_pkg_config_version(self):
        for module in ('assay', 'assay-capture'):
            self.assertEqual([cached('CMAKE_PROJECT_VERSION')], self.pkg_config('--modversion', module=module))

    def check_captured(self, program):
        out = os.path.join(self.folder, 'captured.afperf')
        run(program, env=dict(os.environ, ASSAY_CAPTURE=out, LD_LIBRARY_PATH=os.path.dirname(self.pkgconfig)))
        capture = Capture(out)
        self.assertEqual({'main': 1, 'main/twice': 1}, dict(capture.paths()))
        os.unlink(out)

    def test_capture_by_pkg_config(self):
        for compiler, source in (('cc', 'captured.c'), ('c++', 'captured.cpp')):
            for options in ((), ('--static',)):
                program = os.path.join(self.folder, 'captured-by-' + compiler)
                run(compiler, '-Wall', '-Wextra', '-Werror', '-pedantic', *self.flags, os.path.join(self.folder, source), '-o', program,
                    *self.pkg_config('--cflags', '--libs', *options, module='assay-capture'))
                self.check_captured(program)

    def test_find_package(self):
        build = os.path.join(self.folder, 'user-build')
        run('cmake', '-S', self.folder, '-B', build, '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={self.prefix}',
            f'-DCMAKE_C_FLAGS={" ".join(self.flags)}', f'-DCMAKE_CXX_FLAGS={" ".join(self.flags)}')
        run('cmake', '--build', build)
        for program in ('from_c', 'from_cpp', 'from_static'):
            self.assertEqual(EXPECTED, run(os.path.join(build, program), self.input), program)
        for program in ('captured', 'captured_static'):
            self.check_captured(os.path.join(build, program))


if __name__ == '__main__':
    unittest.main()
