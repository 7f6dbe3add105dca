"""Programs that record themselves with libassay-capture: regions, misuse, and their files, whatever happens to them. See also test_capture_processes.py."""
import os
import time
import unittest

from afperf_check import Capture
from capture_case import BUILD, CaptureCase


class Regions(CaptureCase):
    NESTED = '''
        static int fib(int n) { ASSAY_REGION("fib"); if (n < 2) return n; return fib(n - 1) + fib(n - 2); }
        int main(void) {
            ASSAY_REGION("main");
            for (int i = 0; i < 3; i++) { ASSAY_BEGIN("step"); fib(3); ASSAY_END("step"); }
            { ASSAY_REGION_TAGGED("tagged, \\"so\\"", "platform=F15;component=radar"); ASSAY_REGION("inner"); }
            char label[20]; snprintf(label, sizeof label, "case %d", 7);
            assay_region_begin(label, NULL); assay_region_end(label);
            return 0;
        }'''
    # fib(3) calls fib(2) and fib(1), fib(2) calls fib(1) and fib(0)
    PATHS = {'main': 1, 'main/step': 3, 'main/step/fib': 3, 'main/step/fib/fib': 6, 'main/step/fib/fib/fib': 6,
             'main/tagged, "so"': 1, 'main/tagged, "so"/inner': 1, 'main/case 7': 1}

    def check_nested(self, capture):
        self.assertEqual(self.PATHS, dict(capture.paths()))
        tagged, = (r for r in capture.regions.values() if r.label.startswith('tagged'))
        self.assertEqual({'platform': 'F15', 'component': 'radar'}, tagged.tags)

    def test_c_and_cpp(self):
        for compiler in ('cc', 'c++'):
            self.run_program(self.compile(self.NESTED, compiler))
            self.check_nested(Capture(self.out))

    def test_shared_library(self):
        program = self.compile(self.NESTED, library=['-L', BUILD, '-lassay-capture', '-Wl,-rpath,' + BUILD])
        self.run_program(program)
        self.check_nested(Capture(self.out))

    def test_off_by_default(self):
        self.run_program(self.compile(self.NESTED), **{'': None})
        self.assertEqual(['program', 'program.c'], sorted(os.listdir(self.folder)))

    def test_compiled_out(self):
        text = self.NESTED.replace('return 0', 'assay_section *s = assay_section_create("s", NULL); ASSAY_INTERVAL(s); assay_capture_tag("a", "b"); return assay_capture_start("x")')
        for compiler in ('cc', 'c++'):
            self.run_program(self.compile(text, compiler, library=(), flags=['-DASSAY_CAPTURE_DISABLED']))
        self.assertFalse(os.path.exists(self.out))

    def test_exceptions_end_regions(self):
        program = self.compile('''static void f() { ASSAY_REGION("f"); throw 1; }
            int main() { ASSAY_REGION("main"); try { ASSAY_REGION("try"); f(); } catch (int) { ASSAY_REGION("catch"); } }''', 'c++')
        self.run_program(program)
        self.assertEqual({'main': 1, 'main/try': 1, 'main/try/f': 1, 'main/catch': 1}, dict(Capture(self.out).paths()))

    def test_times_are_right(self):
        capture = self.capture('int main(void) { ASSAY_REGION("main"); ASSAY_BEGIN("nap"); usleep(50000); ASSAY_END("nap"); return 0; }')
        begun, ended = next((r.begin, r.end) for r in capture.regions.values() if r.label == 'nap')
        self.assertTrue(50e6 <= ended - begun < 5e9, ended - begun)
        run_info, = capture.runs.values()
        self.assertLess(abs(time.time() - run_info['wallclock'] - ended / 1e9), 60)

    def test_long_and_odd_labels(self):
        capture = self.capture(r'''int main(void) {
            char label[2000], tags[5000];
            memset(label, '"', sizeof label - 1); label[sizeof label - 1] = 0;
            memset(tags, ',', sizeof tags - 1); memcpy(tags, "t=", 2); tags[sizeof tags - 1] = 0;
            for (int i = 0; i < 100; i++) { assay_region_begin(label, tags); assay_region_end(label); }
            assay_region_begin("two\nlines\t\x01", NULL); assay_region_end("two\nlines\t\x01");
            assay_region_begin("bad \xff\xc3", NULL); assay_region_end("bad \xff\xc3");
            memset(label, 'a', 254); strcpy(label + 254, "\xc3\xbc"); /* cut before the character that does not fit */
            assay_region_begin(label, NULL); assay_region_end(label);
            assay_region_begin("", NULL); assay_region_end("");
            return 0; }''')
        self.assertEqual({'"' * 255: 100, 'two lines  ': 1, 'bad ??': 1, 'a' * 254: 1, '': 1}, dict(capture.labels()))
        self.assertEqual({','  * 1021}, {r.tags['t'] for r in capture.regions.values() if r.tags})

    def test_filter(self):
        text = '''int main(void) { ASSAY_REGION("main"); ASSAY_BEGIN("solve"); ASSAY_BEGIN("solve_inner"); assay_region_begin("solve_made", NULL); ASSAY_BEGIN("io");
            ASSAY_END("io"); assay_region_end("solve_made"); ASSAY_END("solve_inner"); ASSAY_END("solve");
            assay_section *s = assay_section_create("solver", NULL), *t = assay_section_create("queue", NULL);
            { ASSAY_INTERVAL(s); ASSAY_INTERVAL(t); } assay_section_free(s); assay_section_free(t); return 0; }'''
        for pattern, paths, sections in (('solve*,-solve_inner', {'solve': 1, 'solve/solve_made': 1}, ['solver']), ('-s*', {'main': 1, 'main/io': 1}, ['queue']),
                                         ('main, io', {'main': 1, 'main/io': 1}, []), ('nothing', {}, [])):
            capture = self.capture(text, FILTER=pattern)
            self.assertEqual(paths, dict(capture.paths()), pattern)
            self.assertEqual(sections, [i.label for i in capture.intervals.values()], pattern)

    def test_exit_inside_regions(self):
        capture = self.capture('static void f(void) { ASSAY_REGION("f"); exit(3); } int main(void) { ASSAY_REGION("main"); f(); }', status=3)
        self.assertEqual({'main': 1, 'main/f': 1}, dict(capture.paths()))

    def test_deep_recursion(self):
        capture = self.capture('''static void down(int n) { ASSAY_REGION("down"); if (n) down(n - 1); }
            static void by_hand(int n) { ASSAY_BEGIN("hand"); if (n) by_hand(n - 1); ASSAY_END("hand"); }
            int main(void) { down(999); by_hand(999); { ASSAY_REGION("after"); } return 0; }''', says=r'.* 976 regions and intervals were not recorded.*\n')
        self.assertEqual({'down': 512, 'hand': 512, 'after': 1}, dict(capture.labels()))
        self.assertEqual(976, capture.point('capture lost'))  # 2 * (1000 - 512)
        self.assertEqual(1, len(max((r.path for r in capture.regions.values() if r.label == 'after'))))


class Misuse(CaptureCase):
    def test_ends_without_begin(self):
        capture = self.capture('int main(void) { ASSAY_END("a"); ASSAY_BEGIN("b"); ASSAY_END("c"); ASSAY_END("b"); ASSAY_END("b"); return 0; }', says=r'.*: 3 begins or ends .*\n')
        self.assertEqual({'b': 1}, dict(capture.paths()))
        self.assertEqual(3, capture.point('capture misused'))

    def test_ends_in_wrong_order(self):
        capture = self.capture('int main(void) { ASSAY_BEGIN("a"); ASSAY_BEGIN("b"); ASSAY_END("a"); ASSAY_END("b"); ASSAY_REGION("c"); return 0; }', says=r'.*: 2 begins or ends .*\n')
        self.assertEqual({'a': 1, 'a/b': 1, 'c': 1}, dict(capture.paths()))

    def test_begin_without_end_at_thread_exit(self):
        capture = self.capture('''static void *work(void *p) { ASSAY_BEGIN("left open"); ASSAY_BEGIN("and inside"); return p; }
            int main(void) { pthread_t t; pthread_create(&t, NULL, work, NULL); pthread_join(t, NULL); return 0; }''', says=r'.*: 2 begins or ends .*\n')
        self.assertEqual({'left open': 1, 'left open/and inside': 1}, dict(capture.paths()))

    def test_longjmp_over_regions(self):
        capture = self.capture('''static jmp_buf back;
            #pragma GCC diagnostic ignored "-Winfinite-recursion"
            static void f(int n) { ASSAY_REGION("f"); if (n) f(n - 1); else longjmp(back, 1); }
            int main(void) { { ASSAY_REGION("outer"); if (!setjmp(back)) f(3); { ASSAY_REGION("inner"); } } { ASSAY_REGION("next"); } return 0; }''', says=r'.*: 4 begins or ends .*\n')
        self.assertIn('next', capture.paths())
        self.assertEqual({'outer': 1, 'f': 4, 'inner': 1, 'next': 1}, dict(capture.labels()))

    def test_intervals(self):
        capture = self.capture('''int main(void) { assay_section *s = assay_section_create("s", NULL); assay_interval i = assay_section_begin(s);
            assay_section_end(s, i); assay_section_end(s, i); assay_section_end(s, 0); assay_section_end(NULL, 7); assay_section_begin(NULL); assay_section_end(s, 12345);
            assay_section_free(s); return 0; }''', says=r'.*: 1 begins or ends .*\n')
        self.assertEqual(1, len(capture.intervals))

    def test_errno_stays(self):
        self.capture('int main(void) { for (int i = 0; i < 30000; i++) { errno = 77; ASSAY_REGION("r"); if (errno != 77) return 1; } return 0; }')

    def test_signal_handlers(self):
        """Handlers that record while the same thread does: nothing breaks, and what was begun ends."""
        capture = self.capture('''static void handler(int s) { (void)s; ASSAY_REGION("handler"); ASSAY_BEGIN("h"); ASSAY_END("h"); }
            int main(void) { signal(SIGALRM, handler); ualarm(100, 100); for (int i = 0; i < 30000; i++) { ASSAY_REGION("work"); } ualarm(0, 0); return 0; }''', says=r'(.*\n)*')
        self.assertGreater(capture.labels()['work'], 1000)


class Files(CaptureCase):
    TINY = 'int main(void) { ASSAY_REGION("main"); return 0; }'

    def test_unwritable(self):
        self.run_program(self.compile(self.TINY), says=r'assay-capture: /none/such/file: No such file or directory; nothing is captured\n', **{'': '/none/such/file'})

    def test_what_is_no_capture_is_left_alone(self):
        with open(self.out, 'w') as f:
            f.write('my thesis')
        self.run_program(self.compile(self.TINY), says=r'.*exists and is no capture.*\n')
        with open(self.out) as f:
            self.assertEqual('my thesis', f.read())

    def test_full_disk(self):
        program = self.compile('int main(void) { for (int i = 0; i < 100000; i++) { ASSAY_REGION("r"); } puts("went on"); return 0; }')
        self.assertEqual('went on\n', self.run_program(program, says=r'assay-capture: /dev/full: No space left on device; the capture ends here.*\n', **{'': '/dev/full'}))

    def test_file_size_limit(self):
        """A limit inside a page: the file ends with a whole record."""
        program = self.compile('''#include <sys/resource.h>
            int main(int n, char **a) { struct rlimit l = {(rlim_t)atoi(a[n - 1]), RLIM_INFINITY}; setrlimit(RLIMIT_FSIZE, &l);
            for (int i = 0; i < 20000; i++) { ASSAY_REGION("a region"); } puts("went on"); return 0; }''')
        for limit in (10000, 12288, 12289, 20479):
            self.assertEqual('went on\n', self.run_program(program, limit, says=r'assay-capture: .*: File too large; the capture ends here.*\n'))
            Capture(self.out, complete=False)
            self.assertTrue(limit - 1000 < os.path.getsize(self.out) <= limit, os.path.getsize(self.out))

    def test_replaced_and_named(self):
        program = self.compile(self.TINY)
        for _ in range(2):
            self.run_program(program)
            self.assertEqual({'main': 1}, dict(Capture(self.out).paths()))
        process = self.start(program, **{'': self.path('x-%p.afperf')})
        process.communicate()
        Capture(self.path(f'x-{process.pid}.afperf'))

    def test_in_use(self):
        waits = self.start(self.compile('int main(void) { ASSAY_REGION("first"); assay_capture_flush(); puts("on"); fflush(stdout); getchar(); return 0; }'))
        waits.stdout.readline()
        second = self.start(self.compile(self.TINY, name='second'))
        self.assertEqual('', second.communicate()[1])
        self.assertEqual({'main': 1}, dict(Capture(f'{self.out}.{second.pid}').paths()))
        self.assertEqual('', waits.communicate('\n', timeout=60)[1])
        self.assertEqual({'first': 1}, dict(Capture(self.out).paths()))

    def test_settings_that_make_no_sense(self):
        self.run_program(self.compile(self.TINY), says=r'.*PERIOD=soon is no time.*\n.*BUFFER=lots is no power.*\n', PERIOD='soon', BUFFER='lots')
        self.assertEqual({'main': 1}, dict(Capture(self.out).paths()))


if __name__ == '__main__':
    unittest.main()
