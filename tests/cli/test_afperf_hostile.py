"""AFPerf captures that are made to break a reader: many of everything, ids that collide, odd bytes, too little memory. Nothing crashes, takes long or is guessed in silence."""
import json
import random
import resource
import unittest

from common import Case, run

S = '# AFPerf v1     \n'
RUN = 'RunInfo,100,nanoseconds,1.5,1.0.0,0x1,app,2,\n'
T = 'MeasurementType,100,0x1,0xa,T,double,s,,\n'
COUNTS = 'select (select count(*) from event) as event, (select count(*) from context) as context, (select count(*) from record) as record, (select count(*) from run) as run'


def regions(n, label=lambda i: 'a', tags=lambda i: ''):
    return ''.join(f'RegionStart,{100 + 2 * i},0x1,{i},{label(i)},{tags(i)}\nRegionStop,{101 + 2 * i},{i}\n' for i in range(n))


def same_start(i):
    return f'RegionStart,{100 + i},0x1,7,a,\n'


# What, a text of n of them, and what is counted for n: events, contexts, records, runs.
MANY = [
    ('labels', lambda n: S + RUN + regions(n, label=lambda i: f'label{i}'), lambda n: (n, n, 0, 1)),
    ('sets of tags', lambda n: S + RUN + regions(n, tags=lambda i: f'k{i}=1'), lambda n: (n, 1, 0, 1)),
    ('tags of a region', lambda n: S + RUN + 'RegionStart,1,0x1,1,a,' + ';'.join(f't{i}={i}' for i in range(n)) + '\nRegionStop,2,1\n', lambda n: (1, 1, 0, 1)),
    ('runs', lambda n: S + ''.join(f'RunInfo,1,seconds,1,1.0.0,{i},app,1,\nRegionStart,2,{i},{i},a,\nRegionStop,3,{i}\n' for i in range(n)), lambda n: (n, 1, 0, n)),
    ('nested regions', lambda n: S + RUN + ''.join(f'RegionStart,{100 + i},0x1,{i},a,\n' for i in range(n)) + ''.join(f'RegionStop,{100 + n + i},{n - 1 - i}\n' for i in range(n)), lambda n: (n, n, 0, 1)),
    ('regions that are never stopped', lambda n: S + RUN + ''.join(f'RegionStart,{100 + i},0x1,{i},a,\n' for i in range(n)), lambda n: (n, n, 0, 1)),
    ('regions that overlap', lambda n: S + RUN + ''.join(f'RegionStart,{100 + i},0x1,{i},a,\n' for i in range(n)) + ''.join(f'RegionStop,{100 + n + i},{i}\n' for i in range(n)), lambda n: (n, 1, 0, 1)),
    ('stops of one id before all starts', lambda n: S + RUN + ''.join(f'RegionStop,{100 + i},7\n' for i in range(n)) + ''.join(map(same_start, range(n))), lambda n: (n, None, 0, 1)),
    ('starts of one id', lambda n: S + RUN + ''.join(map(same_start, range(n))) + ''.join(f'RegionStop,{100 + n + i},7\n' for i in range(n)), lambda n: (n, None, 0, 1)),
    ('time going backwards', lambda n: S + RUN + ''.join(f'RegionStart,{9 * n - i},0x1,{i},a,\nRegionStop,{4 * n - i},{i}\n' for i in range(n)), lambda n: (n, 1, 0, 1)),
    ('pairs of a record', lambda n: S + RUN + T + 'RunPoint,1,0x1' + ',0xa,1' * n + '\n', lambda n: (0, 0, n, 1)),
    ('points of a region', lambda n: S + RUN + T + 'RegionStart,1,0x1,1,a,\n' + ''.join(f'RegionPoint,{n - i},1,0xa,1\n' for i in range(n)), lambda n: (1, 1, n, 1)),
    ('measurements', lambda n: S + RUN + ''.join(f'MeasurementType,1,1,{i},m{i},double,s,,\nRunPoint,1,1,{i},5\n' for i in range(n)), lambda n: (0, 0, n, 1)),
    ('sections', lambda n: S + RUN + ''.join(f'SectionInfo,,1,{i},s{i},k={i}\nSectionStart,5,{i},1\n' for i in range(n)), lambda n: (n, n, 0, 1)),
    ('open intervals', lambda n: S + RUN + 'SectionInfo,,1,2,s,\n' + ''.join(f'SectionStart,{i},2,\n' for i in range(n)) + ''.join(f'SectionStop,{n + i},2,\n' for i in range(n // 2)), lambda n: (n, 1, 0, 1)),
    ('pauses', lambda n: S + RUN + ''.join(f'PauseResume,{100 + n + i},{100 + n - i},1\nRegionStart,{100 + i},1,{i},a,\nRegionStop,{100 + i},{i}\n' for i in range(n)), lambda n: (2 * n, 1, 0, 1)),
    ('unknown types', lambda n: S + RUN + ''.join(f'Type{i},1\n' for i in range(n)), lambda n: (0, 0, 0, 1)),
    ('unknown types before undefined runs', lambda n: S + ''.join(f'Type{i},1\nPauseResume,2,1,{i}\n' for i in range(n)) + RUN, lambda n: (n, 0, 0, 1)),
    ('orphans', lambda n: S + ''.join(f'RegionPoint,1,{i},1,5\nSectionPoint,1,{i},1,1,1\n' for i in range(n)), lambda n: (0, 0, 2 * n, 0)),
    ('multiples of a power of two as ids', lambda n: S + RUN + ''.join(f'RegionStart,{100 + 2 * i},0x1,{i << 44},a,\nRegionStop,{101 + 2 * i},{i << 44}\n' for i in range(n)), lambda n: (n, 1, 0, 1)),
    ('lines in a label', lambda n: S + RUN + 'RegionStart,1,0x1,1,"' + 'x,""\n' * n + '",\nRegionStop,2,1\n', lambda n: (1, 1, 0, 1)),
]


class Hostile(Case):
    def counts(self, path):
        result = run('sql', '--json', path, COUNTS)
        self.assertFine(result)
        return tuple(json.loads(result.out)[0].values())

    def test_many_of_everything(self):
        n = 30000
        for what, text, expected in MANY:
            with self.subTest(what):
                found = self.counts(self.write('a.afperf', text(n)))
                for e, f in zip(expected(n), found):
                    self.assertTrue(e is None or e == f, (expected(n), found))

    def test_time_grows_as_the_file(self):
        """Of processor time: eight times as much takes less than thirty times as long, where more than a moment is taken at all."""
        for what, text, _ in MANY:
            with self.subTest(what):
                taken = []
                for n in 5000, 40000:
                    path = self.write('a.afperf', text(n))
                    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                    self.assertEqual(run('info', '-O', 'deduct_pauses=yes', path).status, 0)
                    taken.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
                self.assertLess(taken[1], 2 + 30 * taken[0])

    def events(self, path):
        rows = run('sql', '--json', path, 'select e.name, e.start_raw, e.end_raw, r.source_id as run, c.path from event e left join run r on r.id = e.run left join context c on c.id = e.context').json
        return [tuple(r.values()) for r in rows]

    def problems(self, path):
        return [(p['rule'], p['line']) for p in run('sql', '--json', path, 'select rule, line from problem').json]

    def test_ids_that_collide(self):
        second = RUN.replace('0x1,', '0x2,')
        # In one run: while the first one is open, what follows is taken for the latest.
        path = self.write('a.afperf', S + RUN + 'RegionStart,110,0x1,5,a,\nRegionStart,120,0x1,5,b,\nRegionStop,130,5\nRegionStop,140,0x6\n')
        self.assertEqual([('a', 110, 130, '0x1', 'a'), ('b', 120, 130, '0x1', 'a->b')], self.events(path))
        self.assertEqual([('afperf-unfinished', 3), ('afperf-duplicate', 4), ('afperf-orphan', 6)], sorted(self.problems(path), key=lambda p: p[1]))
        # In two runs one after the other: each has its own.
        path = self.write('b.afperf', S + RUN + 'RegionStart,110,0x1,5,a,\nRegionStop,120,5\n' + second + 'RegionStart,210,0x2,5,b,\nRegionStop,220,5\n')
        self.assertEqual([('a', 110, 120, '0x1', 'a'), ('b', 210, 220, '0x2', 'b')], self.events(path))
        self.assertEqual([], self.problems(path))
        # Runs and sections: both are kept, the later ones follow the later definition, and that is said.
        path = self.write('c.afperf', S + RUN + 'RegionStart,110,0x1,5,a,\nRegionStop,120,5\n' + RUN + 'RegionStart,130,0x1,6,b,\nRegionStop,140,6\n')
        self.assertEqual(2, self.counts(path)[3])
        self.assertEqual([('afperf-duplicate', 5)], self.problems(path))
        path = self.write('d.afperf', S + RUN + 'SectionInfo,,0x1,5,s,\nSectionStart,110,5,1\nSectionStop,120,5,1\nSectionInfo,,0x1,5,t,\nSectionStart,130,5,1\nSectionStop,140,5,1\n')
        self.assertEqual([('s', 110, 120, '0x1', 's'), ('t', 130, 140, '0x1', 't')], self.events(path))
        self.assertEqual([('afperf-duplicate', 6)], self.problems(path))
        # Measurements of different runs never collide; in one run the later definition counts.
        path = self.write('e.afperf', S + RUN + second + T + 'MeasurementType,1,0x2,0xa,N,int64,count,,\nRunPoint,110,0x1,0xa,1.5\nRunPoint,110,0x2,0xa,7\n')
        rows = run('sql', '--json', path, 'select measurement, value from record order by id').json
        self.assertEqual([('T', 1.5), ('N', 7)], [tuple(r.values()) for r in rows])

    def test_overlaps_name_both(self):
        path = self.write('a.afperf', S + RUN + 'RegionStart,110,0x1,0x1a,a,\nRegionStart,120,0x1,0x1b,b,\nRegionStop,130,0x1a\nRegionStop,140,0x1b\n')
        rows = run('sql', '--json', path, "select line, message from problem where rule = 'afperf-overlap'").json
        self.assertEqual([4], [r['line'] for r in rows])
        self.assertIn('0x1a', rows[0]['message'])
        self.assertIn('0x1b', rows[0]['message'])

    def test_odd_bytes(self):
        path = self.write('a.afperf', (S + RUN).encode() + b'RegionStart,110,0x1,1,a\0b,k=\0\nRegionStop,120,1\nRegionStart,130,0x1,2,c\rd,\nRegionStop,140,2\rx\nRegionStop,14\0,2\n')
        self.assertEqual([('a\0b', 110, 120, '0x1', 'a\0b'), ('c\rd', 130, 130, '0x1', 'c\rd')], self.events(path))
        self.assertEqual([('afperf-unfinished', 5), ('afperf-number', 6), ('afperf-number', 7)], self.problems(path))
        self.assertFine(run('convert', path, self.path('b.afperf')))
        self.assertEqual(self.events(path), self.events(self.path('b.afperf')))

    def test_large_files_cut_anywhere(self):
        text = (S + RUN + T + ''.join(f'RegionStart,{100 + 2 * i},0x1,{i},"a ""{i % 9}"",\n",k={i % 5}\nRegionPoint,{100 + 2 * i},{i},0xa,{i}\nRegionStop,{101 + 2 * i},{i}\n' for i in range(30000))).encode()
        r = random.Random(7)
        for _ in range(12):
            path = self.write('a.afperf', text[:r.randrange(len(text) // 2, len(text))])
            result = run('info', path)
            if result.status:
                self.assertFails(result, 3, f'{path}:')
            else:
                self.assertEqual('', result.err)

    def test_too_little_memory(self):
        path = self.write('a.afperf', S + RUN + regions(30000, label=lambda i: f'label{i}'))
        for limit in '100K', '1M', '3M':
            self.assertFails(run('info', '--memory-limit', limit, path), 3, 'memory')
        self.assertFine(run('info', '--memory-limit', '200M', path))


if __name__ == '__main__':
    unittest.main()
