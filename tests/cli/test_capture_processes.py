"""Programs that record themselves with libassay-capture: sections, measures, tags, threads, fork, exec, pauses, loss; and killed at any moment.

ASSAY_KILL_ROUNDS=1000 kills that many programs with -9 instead of 30."""
import os
import random
import signal
import time
import unittest

from afperf_check import Capture
from capture_case import SANITIZE, CaptureCase
from common import run

KILL_ROUNDS = int(os.environ.get('ASSAY_KILL_ROUNDS', '30'))


class Sections(CaptureCase):
    def test_overlap_over_threads(self):
        capture = self.capture('''static assay_section *s; static assay_interval begun[4];
            static void *ends(void *p) { for (int i = 0; i < 4; i++) assay_section_end(s, begun[i]); return p; }
            int main(void) { pthread_t t; s = assay_section_create("request", "kind=web");
                for (int i = 0; i < 4; i++) begun[i] = assay_section_begin(s);
                pthread_create(&t, NULL, ends, NULL); pthread_join(t, NULL);
                { ASSAY_INTERVAL(s); } assay_section_free(s); return 0; }''')
        self.assertEqual(5, len(capture.intervals))
        self.assertEqual({('request', 'web')}, {(i.label, i.tags['kind']) for i in capture.intervals.values()})
        first = sorted(capture.intervals.values(), key=lambda i: i.begin)[:4]
        self.assertLess(max(i.begin for i in first), min(i.end for i in first))
        self.assertEqual({capture.run_of_thread(0)}, {s[2] for s in capture.sections.values()})

    def test_many_open_at_once(self):
        """More than the writer keeps track of (98304)."""
        capture = self.capture('''enum { N = 150000 }; static assay_interval begun[N];
            int main(void) { assay_section *s = assay_section_create("s", NULL);
                for (int i = 0; i < N; i++) { begun[i] = assay_section_begin(s); if (i % 1000 == 0) assay_capture_flush(); }
                for (int i = 0; i < N; i++) { assay_section_end(s, begun[i]); if (i % 1000 == 0) assay_capture_flush(); }
                assay_section_free(s); return 0; }''')
        self.assertEqual(150000, len(capture.intervals))
        self.assertTrue(all(i.end for i in capture.intervals.values()))


class Measures(CaptureCase):
    OWN = '''static long total; static double level; static const char *mood = "fine";
        static void read_total(void *c, assay_measure_value *v) { v->integer = *(long *)c; ASSAY_REGION("not recorded"); }
        static void read_level(void *c, assay_measure_value *v) { v->number = *(double *)c; }
        static void read_mood(void *c, assay_measure_value *v) { (void)c; strncpy(v->text, mood, sizeof v->text - 1); }
        static void read_on(void *c, assay_measure_value *v) { (void)c; v->integer = total > 0; }
        static int add(void) {
            assay_measure a = {"items", NULL, "items done", ASSAY_MEASURE_INT64, ASSAY_MEASURE_DURATION, ASSAY_MEASURE_REGIONS, read_total, &total};
            assay_measure b = {"level", "MiB", NULL, ASSAY_MEASURE_DOUBLE, ASSAY_MEASURE_SNAPSHOT, 0, read_level, &level};
            assay_measure c = {"mood, now", NULL, NULL, ASSAY_MEASURE_ENUM, ASSAY_MEASURE_SNAPSHOT, ASSAY_MEASURE_SECTIONS, read_mood, NULL};
            assay_measure d = {"on", NULL, NULL, ASSAY_MEASURE_BOOL, ASSAY_MEASURE_DURATION, ASSAY_MEASURE_REGIONS, read_on, NULL};
            assay_measure bad = {"bad", NULL, NULL, ASSAY_MEASURE_BOOL, ASSAY_MEASURE_SNAPSHOT, 0, NULL, NULL};
            return assay_measure_add(&a) && assay_measure_add(&b) && assay_measure_add(&c) && assay_measure_add(&d) && !assay_measure_add(&bad) && !assay_measure_add(NULL);
        }
        int main(void) { if (!add()) return 1;
            { ASSAY_REGION("outer"); total += 5; level = 1.5; { ASSAY_REGION("inner"); total += 37; level = -2.25; } }
            assay_section *s = assay_section_create("s", NULL); assay_interval i = assay_section_begin(s); mood = "bad, \\"so\\""; level = 1e300; assay_section_end(s, i);
            assay_section_free(s); return add(); }'''

    def values(self, capture, record, name, label=None):
        owners = {k: r.label for k, r in capture.regions.items()}
        return [text for kind, owner, _, _, measure, text in capture.values if kind == record and measure == name and label in (None, owners.get(owner))]

    def test_own(self):
        capture = self.capture(self.OWN)
        self.assertEqual(['42'], self.values(capture, 'RegionAggregate', 'items', 'outer'))
        self.assertEqual(['37'], self.values(capture, 'RegionAggregate', 'items', 'inner'))
        self.assertEqual(['0', '-2.25'], self.values(capture, 'RegionPoint', 'level', 'outer'))
        self.assertEqual(['1.5', '-2.25'], self.values(capture, 'RegionPoint', 'level', 'inner'))
        self.assertEqual(['0', '1'], self.values(capture, 'RegionPoint', 'on', 'outer'))
        self.assertEqual(['fine', 'bad, "so"'], self.values(capture, 'SectionPoint', 'mood, now'))
        self.assertEqual([-2.25, 1e300], [float(t) for t in self.values(capture, 'SectionPoint', 'level')])
        self.assertEqual(1e300, float(self.values(capture, 'RunPoint', 'level')[-1]))
        self.assertEqual({'outer': 1, 'inner': 1}, dict(capture.labels()))
        types = {t['name']: (t['type'], t['units'], t['summary']) for t in capture.types.values()}
        self.assertEqual(('int64', 'count', 'items done'), types['items'])
        self.assertEqual(('double', 'MiB', ''), types['level'])
        self.assertEqual(('enum', 'text', ''), types['mood, now'])
        self.assertEqual('bool', types['on'][0])

    def test_own_left_out(self):
        capture = self.capture(self.OWN, MEASURES='-items,-mood*')
        self.assertFalse({'items', 'mood, now'} & {t['name'] for t in capture.types.values()})
        self.assertTrue(self.values(capture, 'RegionPoint', 'level'))

    BUSY = '''#include <sys/resource.h>
        #include <time.h>
        static long cpu(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
        static char *volatile memory;
        static assay_section *s;
        int main(void) { ASSAY_REGION("main"); s = assay_section_create("s", NULL); ASSAY_INTERVAL(s);
        { ASSAY_REGION("spin"); long begin = cpu(); while (cpu() - begin < 50000000); }
        { struct rusage a, b; getrusage(RUSAGE_THREAD, &a); { ASSAY_REGION("touch"); memory = malloc(64 << 20); memset(memory, 1, 64 << 20); ASSAY_REGION("touched"); free(memory); }
          getrusage(RUSAGE_THREAD, &b); printf("%ld", b.ru_minflt + b.ru_majflt - a.ru_minflt - a.ru_majflt); }
        { ASSAY_REGION("nap"); for (int i = 0; i < 10; i++) usleep(1000); } return 0; }'''

    def test_built_in(self):
        faults = int(self.run_program(self.compile(self.BUSY), MEASURES='*'))
        capture = Capture(self.out)
        number = lambda *which: int(self.values(capture, *which)[0])
        self.assertTrue(50e6 <= number('RegionAggregate', 'cpu time', 'spin') <= number('RegionAggregate', 'wall time', 'spin') * 1.01)
        self.assertLess(number('RegionAggregate', 'cpu time', 'nap'), number('RegionAggregate', 'wall time', 'nap'))
        self.assertGreaterEqual(number('RegionAggregate', 'context switches', 'nap'), 10)
        self.assertTrue(faults / 2 <= number('RegionAggregate', 'page faults', 'touch') <= faults)
        before, = self.values(capture, 'RegionPoint', 'resident memory', 'touch')[:1]
        inside, = self.values(capture, 'RegionPoint', 'resident memory', 'touched')[:1]
        self.assertGreater(int(inside) - int(before), 60 << 20)
        self.assertGreaterEqual(number('SectionAggregate', 'process cpu time'), 50e6)
        for region in capture.regions.values():
            wall = next(t for k, o, _, _, m, t in capture.values if k == 'RegionAggregate' and m == 'wall time' and capture.regions[o] is region)
            self.assertEqual(region.end - region.begin, int(wall))

    def test_kinds_can_be_changed(self):
        capture = self.capture(self.BUSY, MEASURES='cpu:snapshot,memory:duration')
        self.assertEqual(2, len(self.values(capture, 'RegionPoint', 'cpu time', 'spin')))
        self.assertEqual(1, len(self.values(capture, 'RegionAggregate', 'resident memory', 'touch')))
        self.assertEqual([], self.values(capture, 'RegionAggregate', 'wall time'))

    def test_samples(self):
        text = 'int main(void) { ASSAY_REGION("main"); usleep(400000); return 0; }'
        capture = self.capture(text, PERIOD='20ms')
        self.assertTrue(4 <= len(self.values(capture, 'RunPoint', 'resident memory')) <= 25)
        self.assertEqual(0, len(self.capture(text, PERIOD='0').of('RunPoint')))
        names = {m for k, _, _, _, m, _ in self.capture(text).values if k == 'RunPoint'}
        self.assertEqual({'process cpu time', 'resident memory', 'process page faults', 'process context switches'}, names)


class Tags(CaptureCase):
    def test_tags_come_at_any_time(self):
        """Also after the RunInfo was written: it is written anew, in its place."""
        program = self.compile('''static void *work(void *p) { assay_capture_thread("worker; one"); ASSAY_REGION("work"); assay_capture_flush(); sleep(p != NULL); return p; }
            int main(void) { pthread_t t; ASSAY_REGION("main"); pthread_create(&t, NULL, work, NULL);
                assay_capture_application("solver, the", "1.2"); usleep(100000); assay_capture_flush();
                if (!assay_capture_tag("size", "1") || !assay_capture_tag("size", "2;3") || !assay_capture_tag("a=b", "c=d") || assay_capture_tag("", "x")) return 1;
                assay_capture_flush();
                char text[3000]; memset(text, 'x', sizeof text - 1); text[sizeof text - 1] = 0;
                for (int i = 0; i < 9; i++) { char name[20]; snprintf(name, sizeof name, "n%d", i); if (!assay_capture_tag(name, text) != (i > 0)) return 2; }
                return pthread_join(t, NULL); }''')
        self.run_program(program, TAGS='case=two;size=0', says=r'(.*no room for more tags.*\n)?')
        capture = Capture(self.out)
        self.assertEqual(2, len(capture.runs))
        main = capture.runs[capture.run_of_thread(0)]
        self.assertEqual(('solver, the', '1.2'), (main['application'], main['version']))
        tags = dict(main['tags'])
        self.assertEqual('x' * 511, tags.pop('n0'))
        self.assertTrue(int(tags.pop('process')) > 0)
        self.assertEqual({'thread': '0', 'thread_name': 'program', 'case': 'two', 'size': '2_3', 'a_b': 'c=d'}, tags)
        self.assertEqual('worker_ one', capture.runs[capture.run_of_thread(1)]['tags']['thread_name'])


class Threads(CaptureCase):
    def test_come_and_go(self):
        """2,000 threads one after another, 4 at a time: their rings are handed on."""
        capture = self.capture('''static void *work(void *p) { ASSAY_REGION("work"); { ASSAY_REGION("inside"); } return p; }
            int main(void) { pthread_t t[4]; for (int i = 0; i < 500; i++) { for (int k = 0; k < 4; k++) pthread_create(&t[k], NULL, work, NULL);
                for (int k = 0; k < 4; k++) pthread_join(t[k], NULL); } return 0; }''')
        self.assertEqual({'work': 2000, 'work/inside': 2000}, dict(capture.paths()))
        self.assertEqual(2001, len(capture.runs))
        self.assertEqual(2001, len({r['tags']['thread'] for r in capture.runs.values()}))

    def test_a_thousand_at_once(self):
        capture = self.capture('''enum { N = 1000 }; static pthread_barrier_t all;
            static void *work(void *p) { ASSAY_REGION("work"); pthread_barrier_wait(&all); for (int i = 0; i < 20; i++) { ASSAY_REGION("inside"); } return p; }
            int main(void) { static pthread_t t[N]; pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 256 << 10); pthread_barrier_init(&all, NULL, N);
                for (int i = 0; i < N; i++) if (pthread_create(&t[i], &a, work, NULL)) return 1;
                for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
                return 0; }''')
        self.assertEqual({'work': 1000, 'work/inside': 20000}, dict(capture.paths()))
        self.assertEqual(1001, len(capture.runs))

    def test_threads_that_run_on_at_exit(self):
        capture = self.capture('''static void *work(void *p) { ASSAY_REGION("work"); for (;;) { ASSAY_REGION("inside"); usleep(100); } return p; }
            int main(void) { pthread_t t; for (int i = 0; i < 4; i++) pthread_create(&t, NULL, work, NULL); usleep(50000); return 0; }''')
        self.assertEqual(4, capture.labels()['work'])

    def test_start_and_stop_by_the_program(self):
        program = self.compile('''static void *work(void *p) { for (int i = 0; i < 300; i++) { ASSAY_REGION("work"); usleep(100); } return p; }
            int main(int n, char **a) { (void)n; pthread_t t; ASSAY_BEGIN("before"); pthread_create(&t, NULL, work, NULL);
                for (int i = 0; i < 5; i++) { if (!assay_capture_start(a[1])) return 1; { ASSAY_REGION("inside"); usleep(2000); } ASSAY_BEGIN("left open"); assay_capture_stop(); ASSAY_END("left open"); }
                ASSAY_END("before"); return pthread_join(t, NULL); }''')
        self.run_program(program, self.path('made.afperf'), **{'': None})
        made = sorted(f for f in os.listdir(self.folder) if f.startswith('made'))
        self.assertEqual(5, len(made))
        for name in made:
            capture = Capture(self.path(name))
            self.assertEqual((1, 1), (capture.labels()['inside'], capture.labels()['left open']))

    def test_too_fast_for_the_writer(self):
        """The smallest ring: pairs are dropped whole, and counted."""
        program = self.compile('''int main(void) { ASSAY_REGION("main"); for (int i = 0; i < 60000; i++) { ASSAY_REGION("a"); ASSAY_REGION("b"); } return 0; }''')
        self.run_program(program, BUFFER='16', says=r'(.*\n)?')
        capture = Capture(self.out)
        self.assertEqual(120001, sum(capture.labels().values()) + capture.point('capture lost'))

    def test_a_writer_that_hangs(self):
        """Its file is a pipe nobody reads: refused at once. A terminal-like device that blocks is not to be had here."""
        os.mkfifo(self.out)
        self.run_program(self.compile('int main(void) { ASSAY_REGION("main"); return 0; }'), says=r'.*nothing is captured\n')


class Processes(CaptureCase):
    def test_fork(self):
        """Nothing of the parent's is in the child's file; the region that was open at the fork is the parent's."""
        process = self.start(self.compile('''int main(void) { ASSAY_REGION("main"); { ASSAY_REGION("before"); } pid_t c = fork();
            if (c == 0) { ASSAY_REGION("child"); pid_t d = fork(); if (d == 0) { ASSAY_REGION("grandchild"); return 0; } waitpid(d, NULL, 0); printf("%d %d", getpid(), d); fflush(stdout); return 0; }
            waitpid(c, NULL, 0); { ASSAY_REGION("parent"); } return 0; }'''))
        out, err = process.communicate(timeout=60)
        self.assertEqual(0, process.returncode, err)
        if not SANITIZE:  # it finds that a child has not all threads of its parent
            self.assertEqual('', err)
        child, grandchild = out.split()
        self.assertEqual({'main': 1, 'main/before': 1, 'main/parent': 1}, dict(Capture(self.out).paths()))
        self.assertEqual({'child': 1}, dict(Capture(f'{self.out}.{child}').paths()))
        self.assertEqual({'grandchild': 1}, dict(Capture(f'{self.out}.{grandchild}').paths()))
        self.assertEqual(child, next(iter(Capture(f'{self.out}.{child}').runs.values()))['tags']['process'])

    @unittest.skipIf(SANITIZE, 'the sanitizer\'s malloc does not survive fork() in a process with threads')
    def test_fork_from_a_busy_process(self):
        """Children of a process whose threads record all the time; those that record nothing make no file."""
        process = self.start(self.compile('''static void *work(void *p) { for (int i = 0;; i++) { ASSAY_REGION("work"); if (i % 10 == 0) usleep(100); } return p; }
            int main(void) { pthread_t t; for (int i = 0; i < 3; i++) pthread_create(&t, NULL, work, NULL);
                assay_section *s = assay_section_create("s", NULL);
                for (int i = 0; i < 40; i++) { ASSAY_INTERVAL(s); pid_t c = fork(); if (c == 0) { if (i % 2) _exit(0); ASSAY_REGION("child"); { ASSAY_INTERVAL(s); } assay_capture_stop(); _exit(0); }
                    int status; waitpid(c, &status, 0); if (status) return 1; }
                assay_section_free(s); return 0; }'''))
        out, err = process.communicate(timeout=120)
        self.assertEqual(0, process.returncode, err)
        made = [f for f in os.listdir(self.folder) if f.startswith('out.afperf.')]
        self.assertEqual(20, len(made))
        for name in made:
            capture = Capture(self.path(name))
            self.assertEqual(({'child': 1}, 1), (dict(capture.paths()), len(capture.intervals)))
        self.assertEqual(40, len(Capture(self.out).intervals))

    def test_exec(self):
        """The same process twice: the second file has a name of its own."""
        process = self.start(self.compile('''int main(int n, char **a) { ASSAY_REGION("main"); if (n > 1) return 0; { ASSAY_REGION("first"); }
            assay_capture_flush(); execl(a[0], a[0], "again", (char *)NULL); return 1; }'''))
        self.assertEqual('', process.communicate(timeout=60)[1])
        self.assertEqual({'main': 1, 'main/first': 1}, dict(Capture(self.out, complete=False).paths()))
        self.assertEqual({'main': 1}, dict(Capture(f'{self.out}.{process.pid}').paths()))

    def test_flush_before_dying(self):
        for end in ('_exit(0);', 'abort();', 'raise(SIGSEGV);', 'kill(getpid(), SIGKILL);'):
            process = self.start(self.compile('int main(void) { ASSAY_REGION("main"); for (int i = 0; i < 1000; i++) { ASSAY_REGION("r"); } assay_capture_flush(); ' + end + ' return 0; }'))
            process.communicate(timeout=60)
            self.assertEqual({'main': 1, 'main/r': 1000}, dict(Capture(self.out, complete=False).paths()), end)

    def test_stopped(self):
        """SIGSTOP for 0.6 s is a pause, in every run."""
        process = self.start(self.compile('''static void *work(void *p) { ASSAY_REGION("work"); pause(); return p; }
            int main(void) { pthread_t t; pthread_create(&t, NULL, work, NULL); ASSAY_REGION("main"); usleep(50000); puts("go"); fflush(stdout); getchar(); return 0; }'''))
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.6)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.1)
        self.assertEqual('', process.communicate('\n', timeout=60)[1])
        capture = Capture(self.out)
        self.assertEqual(set(capture.runs), {run for run, _, _ in capture.pauses})
        self.assertEqual(2, len(capture.pauses))
        for _, begin, end in capture.pauses:
            self.assertTrue(0.55e9 < end - begin < 3e9, end - begin)

    def test_killed_at_any_moment(self):
        program = self.compile('''static void *work(void *p) { for (int i = 0;; i++) { char tags[40]; snprintf(tags, sizeof tags, "step=%d", i); ASSAY_REGION_TAGGED("work", tags); ASSAY_REGION("inside"); if (i % 100 == 0) usleep(1000); } return p; }
            int main(void) { pthread_t t; assay_section *s = assay_section_create("s", "kind=all"); for (int i = 0; i < 2; i++) pthread_create(&t, NULL, work, NULL);
                for (int i = 0;; i++) { char name[20]; snprintf(name, sizeof name, "n%d", i % 5); assay_capture_tag(name, "value"); ASSAY_REGION("main"); ASSAY_INTERVAL(s); if (i % 100 == 0) usleep(1000); } return 0; }''')
        chance, regions = random.Random(7), 0
        for number in range(KILL_ROUNDS):
            process = self.start(program, MEASURES='wall,cpu' if number % 3 == 0 else '')
            limit = time.monotonic() + 20
            while number % 2 and time.monotonic() < limit and (not os.path.exists(self.out) or os.path.getsize(self.out) < 20000):
                time.sleep(0.005)  # every other one is in full swing when it is killed, however slow the machine
            time.sleep(chance.uniform(0, 0.08))
            process.kill()
            process.communicate()
            if os.path.exists(self.out):
                capture = Capture(self.out, complete=False)
                regions += len(capture.regions)
                if number % 10 == 0:
                    self.read_by_assay(capture)
                os.unlink(self.out)
        self.assertGreater(regions, 20 * KILL_ROUNDS)

    def read_by_assay(self, capture):
        if capture.data:
            result = run('info', '--json', self.out)
            self.assertEqual(0, result.status, result)
            self.assertEqual(len(capture.runs), result.json['runs'])


class Assay(CaptureCase):
    """What assay makes of a capture is what the small reader of the tests finds in it."""
    PROGRAM = '''static assay_section *s;
        static void *work(void *p) { for (int i = 0; i < 50; i++) { ASSAY_REGION("work"); ASSAY_INTERVAL(s); { ASSAY_REGION_TAGGED("inside, here", "kind=leaf"); } } return p; }
        int main(void) { pthread_t t[3]; ASSAY_REGION("main"); assay_capture_tag("size", "12"); s = assay_section_create("request", "by=test");
            for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
            for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
            return 0; }'''

    def sql(self, statement):
        result = run('sql', '--json', self.out, statement)
        self.assertEqual(0, result.status, result)
        return result.json

    def test_reads_it(self):
        capture = self.capture(self.PROGRAM, MEASURES='*')
        result = run('validate', self.out)
        self.assertEqual((0, '1 file: no problems'), (result.status, result.out.strip()), result)
        self.assertEqual(4, run('info', '--json', self.out).json['runs'])
        kinds = {r['kind']: r['n'] for r in self.sql('select kind, count(*) as n from event group by kind')}
        self.assertEqual({'region': 301, 'section': 150}, kinds)
        visits = {r['path']: r['n'] for r in self.sql("""select c.path as path, sum(v.value) as n from value v join context c on c.id = v.context
            join metric m on m.id = v.metric where m.name = 'visits' group by c.path""")}
        self.assertEqual({'main': 1, 'work': 150, 'work->inside, here': 150, 'request': 150}, visits)
        total = sum(r.end - r.begin for r in capture.regions.values() if r.label == 'work')
        found, = self.sql("""select sum(v.value) as t from value v join context c on c.id = v.context join metric m on m.id = v.metric
            where m.name = 'time' and c.path = 'work'""")
        self.assertAlmostEqual(total / 1e9, found['t'], places=9)
        self.merges_two(capture)
        size = self.sql("select distinct value from attribute where owner = 'run' and key = 'tag:size'")
        self.assertEqual(['12'], [str(r['value']) for r in size])

    def merges_two(self, first):
        """Ids of regions and sections are the same in both: merged, they are told apart."""
        with open(self.path('first.afperf'), 'wb') as f:
            f.write(first.data)
        second = self.capture(self.PROGRAM, MEASURES='*')
        self.assertTrue(set(first.regions) & set(second.regions))
        result = run('merge', self.path('first.afperf'), self.out, '-o', self.path('both.afperf'))
        self.assertEqual(0, result.status, result)
        self.assertEqual('1 file: no problems', run('validate', self.path('both.afperf')).out.strip())
        self.out = self.path('both.afperf')
        kinds = {r['kind']: r['n'] for r in self.sql('select kind, count(*) as n from event group by kind')}
        self.assertEqual({'region': 602, 'section': 300}, kinds)


if __name__ == '__main__':
    unittest.main()
