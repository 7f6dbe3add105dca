"""A capture in somebody else's process: its descriptors, signals, cancellation, threads and libraries stay its own. See also test_capture.py."""
import glob
import os
import signal
import subprocess
import time
import unittest

from afperf_check import Capture
from capture_case import BUILD, FLAGS, LIBRARY, SANITIZE, SOURCE, CaptureCase
from common import run

os.environ.setdefault('ASAN_OPTIONS', 'detect_leaks=0')  # a search for leaks needs what these programs close, and threads that fork() leaves behind
HEADERS = '#include <dlfcn.h>\n#include <fcntl.h>\n#include <sys/resource.h>\n#include <sys/stat.h>\n'


class Descriptors(CaptureCase):
    def validated(self, path=None):
        """Read by assay, too: nothing but unfinished regions may be told."""
        result = run('validate', path or self.out)
        self.assertNotIn('error', result.out, result)
        return Capture(path or self.out, complete=False)

    def test_standard_streams_that_are_closed(self):
        """Their numbers go to the program's files, as without the capture; and no line of the library goes there."""
        program = self.compile(HEADERS + '''int main(void) { ASSAY_REGION("main"); int first = open("mine.txt", O_CREAT | O_TRUNC | O_RDWR, 0644);
            ASSAY_END("none"); usleep(30000); dprintf(2, "error\\n"); dprintf(first, "%d", first); return 0; }''')
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            command = 'exec "$0" ' + ' '.join(f'{number}>&-' for number in closed)
            subprocess.run(['sh', '-c', command, program], env=self.environment(), cwd=self.folder, stderr=subprocess.DEVNULL, check=True, timeout=60)
            with open(self.path('mine.txt')) as f:
                self.assertEqual(str(closed[0]) if 2 not in closed[:1] else 'error\n2', f.read(), closed)
            self.assertEqual({'main': 1}, dict(self.validated().paths()))

    def test_program_closes_all(self):
        """What has the number afterwards is not written to, here nor in a child; the capture goes on."""
        program = self.compile(HEADERS + '''int main(void) { struct stat s; ASSAY_REGION("main"); usleep(30000);
            for (int i = 3; i < 1024; i++) close(i);
            for (int i = 0; i < 600; i++) if (open("mine.txt", O_CREAT | O_RDWR, 0644) < 0) return 1;
            for (int i = 0; i < 500; i++) { ASSAY_REGION("r"); usleep(50); }
            pid_t c = fork(); if (c == 0) { ASSAY_REGION("child"); for (int i = 3; i < 603; i++) if (fstat(i, &s) || s.st_size) _exit(2); return 0; }
            int status; waitpid(c, &status, 0); return status ? 3 : fstat(3, &s) || s.st_size ? 4 : 0; }''')
        process = subprocess.run([program], env=self.environment(), cwd=self.folder, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((0, ''), (process.returncode, process.stderr))
        self.assertEqual({'main': 1, 'main/r': 500}, dict(self.validated().paths()))
        child, = glob.glob(self.out + '.*')
        self.assertEqual({'child': 1}, dict(self.validated(child).paths()))

    def test_file_is_not_ours_any_more(self):
        """Replaced by another and closed; or cut: nothing is written there."""
        for change, says in (('rename("other", name); closefrom(3);', 'cannot be opened again'), ('if (truncate(name, 0)) return 1;', 'was cut')):
            with open(self.path('other'), 'w') as f:
                f.write('mine')
            program = self.compile(HEADERS + f'''int main(int n, char **a) {{ (void)n; const char *name = a[1]; ASSAY_REGION("main"); usleep(30000); {change}
                for (int i = 0; i < 500; i++) {{ ASSAY_REGION("r"); usleep(50); }} return 0; }}''')
            process = subprocess.run([program, self.out], env=self.environment(), cwd=self.folder, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(0, process.returncode)
            self.assertRegex(process.stderr, f'^assay-capture: .*{says}.*the program goes on\n$')
            with open(self.out) as f:
                self.assertIn(f.read(), ('mine', ''))
            os.unlink(self.out)

    def test_daemon(self):
        """Two forks, another directory, everything closed: the file is beside the parent's."""
        program = self.compile(HEADERS + '''int main(void) { ASSAY_REGION("main"); if (fork()) return 0; setsid(); if (fork()) _exit(0);
            if (chdir("/"))
                return 1;
            closefrom(0); open("/dev/null", O_RDWR); if (dup(0) + dup(0) != 3) return 1;
            for (int i = 0; i < 100; i++) { ASSAY_REGION("d"); } usleep(30000); closefrom(3); { ASSAY_REGION("late"); } return 0; }''')
        subprocess.run([program], env=self.environment(**{'': 'out.afperf'}), cwd=self.folder, check=True, timeout=60)
        for _ in range(100):
            found = glob.glob(self.out + '.*')
            if found and 'late' in Capture(found[0], complete=False).labels():
                break
            time.sleep(0.1)
        self.assertEqual({'d': 100, 'late': 1}, dict(Capture(found[0], complete=False).labels()))


class Signals(CaptureCase):
    TINY = 'int main(void) { ASSAY_REGION("main"); return write(1, "went on", 7) != 7; }'

    def test_no_file_may_be_written(self):
        """The first write is of the program's own thread; SIGXFSZ would kill it."""
        program = self.compile(self.TINY)
        process = subprocess.run(['sh', '-c', 'ulimit -f 0; exec "$0"', program], env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((0, 'went on'), (process.returncode, process.stdout))
        self.assertRegex(process.stderr, 'File too large')

    def test_standard_error_is_a_pipe(self):
        """One that nobody reads any more, and one that is full."""
        program = self.compile(self.TINY)
        for full in (False, True):
            reader, writer = os.pipe()
            if full:
                os.set_blocking(writer, False)
                with self.assertRaises(BlockingIOError):
                    while True:
                        os.write(writer, bytes(4096))
                os.set_blocking(writer, True)
            else:
                os.close(reader)
            for settings in ({'PERIOD': 'soon'}, {'': '/none/such/file'}):
                process = subprocess.run([program], env=self.environment(**settings), stdout=subprocess.PIPE, stderr=writer, timeout=60)
                self.assertEqual((0, b'went on'), (process.returncode, process.stdout), settings)

    def test_stopped_while_the_writer_works(self):
        """As fast as it goes: the writer is hardly ever asleep when the process is stopped."""
        process = self.start(self.compile('''#include <time.h>
            int main(void) { ASSAY_REGION("main"); time_t end = time(NULL) + 6; while (time(NULL) < end) for (int i = 0; i < 1000; i++) { ASSAY_REGION("r"); } return 0; }'''), BUFFER='64')
        for _ in range(4):
            time.sleep(0.3)
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.7)
            process.send_signal(signal.SIGCONT)
        process.communicate(timeout=120)
        with open(self.out, errors='replace') as f:
            pauses = [line.split(',') for line in f if line.startswith('PauseResume')]
        lengths = [int(end, 0) - int(begin, 0) for _, end, begin, _ in pauses]
        self.assertEqual(4, sum(0.65e9 < length < 5e9 for length in lengths), lengths)


class Threads(CaptureCase):
    def test_main_ends_before_its_threads(self):
        """The process ends with its last thread, and the library's is none of them."""
        capture = self.capture('''static void *work(void *p) { usleep(50000); { ASSAY_REGION("work"); } return p; }
            int main(void) { pthread_t t; pthread_create(&t, NULL, work, NULL); { ASSAY_REGION("main"); } pthread_exit(NULL); }''')
        self.assertEqual({'main': 1, 'work': 1}, dict(capture.paths()))

    def test_scope_left_on_another_thread(self):
        """As coroutines may do: it ends nothing of that thread."""
        program = self.compile('''#include <new>
            struct held { assay_capture_region_ region; held(assay_capture_site *s) : region(s, NULL) {} };
            static char room[sizeof(held)] __attribute__((aligned(16)));
            static void *work(void *p) { ASSAY_REGION("outer"); ASSAY_BEGIN("inner"); reinterpret_cast<held *>(room)->~held(); { ASSAY_REGION("still inside"); } ASSAY_END("inner"); return p; }
            int main() { static assay_capture_site site = {"moved", 0, 0, NULL}; pthread_t t; new (room) held(&site); pthread_create(&t, NULL, work, NULL); pthread_join(t, NULL); return 0; }''', 'c++')
        self.run_program(program, says='.* 1 begins or ends without the other.*\n')
        self.assertEqual({'moved': 1, 'outer': 1, 'outer/inner': 1, 'outer/inner/still inside': 1}, dict(Capture(self.out).paths()))

    def test_compiled_out_evaluates_nothing(self):
        text = 'static int asked; static const char *tags(void) { asked++; return "a=b"; } int main(void) { ASSAY_REGION_TAGGED("r", tags()); ASSAY_BEGIN_TAGGED("s", tags()); ASSAY_END("s"); return asked + 0 * !tags; }'
        self.run_program(self.compile(text, library=(), flags=['-DASSAY_CAPTURE_DISABLED', '-Wno-unused-function', '-Wno-address']))

    @unittest.skipIf(SANITIZE, 'threads that are cancelled upset the sanitizer')
    def test_regions_are_no_cancellation_points(self):
        """A thread with a cancellation pending gets through all calls, also where they wait."""
        program = self.compile('''static int passed; static pthread_barrier_t ready;
            static void *work(void *p) { int old; pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old); pthread_barrier_wait(&ready); pthread_barrier_wait(&ready); pthread_setcancelstate(old, &old);
                for (int i = 0; i < 20000; i++) { ASSAY_REGION("r"); } assay_capture_flush(); assay_capture_tag("a", "b"); assay_capture_thread("t"); passed = 1; pthread_testcancel(); passed = 2; return p; }
            int main(void) { pthread_t t; pthread_barrier_init(&ready, NULL, 2); pthread_create(&t, NULL, work, NULL); pthread_barrier_wait(&ready); pthread_cancel(t); pthread_barrier_wait(&ready);
                pthread_join(t, NULL); { ASSAY_REGION("after"); } return passed != 1; }''')
        for measures in ('', 'memory'):
            self.run_program(program, MEASURES=measures, BUFFER='16', says='(.*\n)?')
            self.assertEqual(1, Capture(self.out).labels()['after'])

    @unittest.skipIf(SANITIZE, 'the sanitizer has to be in the program, not in what it loads')
    def test_library_is_unloaded(self):
        """With the library inside, linked statically: its thread, and those that recorded, outlive it by nothing."""
        plugin = self.path('plugin.so')
        with open(self.path('plugin.c'), 'w') as f:
            f.write('#include <assay/capture.h>\nvoid work(void);\nvoid work(void) { ASSAY_REGION("plugin"); }\n')
        for library in ([LIBRARY], ['-L', BUILD, '-lassay-capture', '-Wl,-rpath,' + BUILD]):
            subprocess.run(['cc', '-fPIC', '-shared', *FLAGS, '-I', os.path.join(SOURCE, 'include'), self.path('plugin.c'), *library, '-pthread', '-o', plugin], check=True)
            program = self.compile(HEADERS + '''static void (*work)(void); static pthread_barrier_t b;
                static void *thread(void *p) { work(); pthread_barrier_wait(&b); pthread_barrier_wait(&b); return p; }
                int main(int n, char **a) { (void)n; pthread_barrier_init(&b, NULL, 2);
                    for (int i = 0; i < 10; i++) { void *h = dlopen(a[1], RTLD_NOW); if (!h) return 1; *(void **)&work = dlsym(h, "work"); work();
                        pthread_t t; pthread_create(&t, NULL, thread, NULL); pthread_barrier_wait(&b); dlclose(h); pthread_barrier_wait(&b); pthread_join(t, NULL); }
                    return 0; }''', library=['-ldl'], name='host')
            self.run_program(program, plugin)
            self.assertIn(Capture(self.out).labels()['plugin'], (2, 20))


class Measures(CaptureCase):
    def test_names_are_unique(self):
        """Each has an id of its own, also where name and units are the same word; a name that is there is refused."""
        capture = self.capture('''static void one(void *c, assay_measure_value *v) { v->integer = *(int *)c; }
            static int add(const char *name, const char *units, int *value) { assay_measure m = {name, units, NULL, ASSAY_MEASURE_INT64, ASSAY_MEASURE_SNAPSHOT, ASSAY_MEASURE_REGIONS, one, value}; return assay_measure_add(&m); }
            int main(void) { static int a = 1, b = 2; if (!add("count", "count", &a) || !add("B", "B", &b) || add("B", "count", &a) || add("cpu time", "ns", &a) || add("process cpu time", "s", &a)) return 1;
                ASSAY_REGION("r"); return 0; }''')
        values = {(name, text) for kind, _, _, _, name, text in capture.values if kind == 'RegionPoint'}
        self.assertEqual({('count', '1'), ('B', '2')}, values)

    def test_measures_that_do_not_exist(self):
        program = self.compile('int main(void) { ASSAY_REGION("r"); pid_t c = fork(); if (!c) { ASSAY_REGION("child"); exit(0); } waitpid(c, NULL, 0); return 0; }')
        self.run_program(program, MEASURES='cpu,c*,cpuu,memory:snapshots,-wal', says='(assay-capture: ASSAY_CAPTURE_MEASURES has (cpuu|memory:snapshots|wal), which is no measure.*\n){3}')

    def test_tags_that_come_too_late(self):
        """Many runs without room for them: said once."""
        capture = self.capture('''static pthread_barrier_t all; static void *work(void *p) { ASSAY_REGION("work"); pthread_barrier_wait(&all); pthread_barrier_wait(&all); return p; }
            int main(void) { pthread_t t[20]; char value[500]; memset(value, 'x', 499); value[499] = 0; pthread_barrier_init(&all, NULL, 21); for (int i = 0; i < 20; i++) pthread_create(&t[i], NULL, work, NULL);
                pthread_barrier_wait(&all); assay_capture_flush(); assay_capture_tag("a", value); assay_capture_flush(); assay_capture_tag("b", "c"); assay_capture_flush(); pthread_barrier_wait(&all);
                for (int i = 0; i < 20; i++) { pthread_join(t[i], NULL); } return 0; }''', says='assay-capture: .*no room for more tags.*\n')
        self.assertEqual('c', capture.runs[capture.run_of_thread(0)]['tags']['b'])

    def test_flush_tells_of_failure(self):
        self.run_program(self.compile(HEADERS + '''int main(void) { struct rlimit l = {4096, RLIM_INFINITY}; setrlimit(RLIMIT_FSIZE, &l);
            for (int i = 0; i < 1000; i++) { ASSAY_REGION("r"); } return assay_capture_flush(); }'''), says='.*File too large.*\n')


if __name__ == '__main__':
    unittest.main()
