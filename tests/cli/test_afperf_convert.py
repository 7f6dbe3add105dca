#!/usr/bin/env python3
"""Captures written again, made one, converted to other formats and back."""
import os

import common

SIGNATURE = '# AFPerf v1     \n'
# main 100 ns, in it solve twice, 20 and 40 ns; a section of two intervals, 60 ns together, that cover 40.
SMALL = SIGNATURE + '''\
RunInfo,100,nanoseconds,1639527663.5,1.0.0,0x1,app,2.0,size=4
MeasurementType,100,0x1,0xa,Bytes,int64,B,,
MeasurementType,100,0x1,0xb,Work,double,count,,
RegionStart,110,0x1,0x10,main,
RegionStart,120,0x1,0x11,solve,kind=fast
RegionStop,140,0x11
RegionAggregate,140,120,0x11,,0xa,9007199254740993,0xb,0.25
RegionStart,150,0x1,0x12,solve,
RegionStop,190,0x12
RegionAggregate,190,150,0x12,,0xa,1
RegionStop,210,0x10
RegionAggregate,210,110,0x10,,0xa,9007199254740999,0xb,1.5
SectionInfo,,0x1,0x20,io,
SectionStart,110,0x20,0x1
SectionStart,120,0x20,0x2
SectionStop,140,0x20,0x1
SectionStop,150,0x20,0x2
PauseResume,205,200,0x1
'''
NODES = ('select m.name as metric, g.kind as kind, c.path as path, n.inclusive as value from node n join metric m on m.id = n.metric '
         'join context c on c.id = n.context join region g on g.id = c.region')
VALUES = {('time', 'main'): 100e-9, ('time', 'main->solve'): 60e-9, ('time', 'io'): 60e-9, ('visits', 'main->solve'): 2,
          ('Bytes', 'main'): 9007199254740999, ('Bytes', 'main->solve'): 9007199254740994, ('Work', 'main'): 1.5, ('Work', 'main->solve'): 0.25}


class Convert(common.Case):
    def convert(self, *args):
        result = common.run('convert', *args)
        self.assertEqual(0, result.status, result)
        return result.err

    def nodes(self, path, *options):
        rows = common.run('sql', '--json', *options, path, NODES).json
        return {(row['metric'].split(' (')[0], row['path'].replace('main thread->', '')): row['value'] for row in rows}

    def assertValues(self, expected, got, places=15):
        for key, value in expected.items():
            self.assertIn(key, got)
            if isinstance(value, int):
                self.assertEqual(value, got[key], key)
            else:
                self.assertAlmostEqual(value, got[key], places, key)

    def test_a_capture_is_written_as_it_was_read(self):
        path = self.write('in.afperf', SMALL)
        self.assertEqual('', self.convert(path, self.path('out.afperf')))
        self.assertEqual(SMALL.encode(), self.read('out.afperf'))
        self.assertEqual('', self.convert('--strict', path, self.path('out.afperf')))

    def test_intervals_become_trace_lines_of_hpctoolkit(self):
        path = self.write('in.afperf', SMALL)
        err = self.convert(path, self.path('db'), '--to', 'hpctoolkit-4')
        self.assertIn('3 events that are no part of a call path\'s time line', err)  # two intervals of a section, a pause
        self.convert(path, self.path('old'), '--to', 'hpctoolkit-2021')
        # the context of the innermost region from its start to its last nanosecond (a sample owns the time up to the middle between it and the next), that of the one around it from its end on, nothing at the end
        expected = [(10, 'main'), (19, 'main'), (20, 'main->solve'), (39, 'main->solve'), (40, 'main'), (49, 'main'), (50, 'main->solve'), (89, 'main->solve'), (90, 'main'), (109, 'main'), (110, '')]
        for name in ('db', 'old'):
            rows = common.run('sql', '--json', self.path(name), 'select e.start_raw as t, c.path as p from event e left join context c on c.id = e.context order by t').json
            start = 1639527663500000000
            self.assertEqual(expected, [(row['t'] - start, (row['p'] or '').replace('main thread->', '')) for row in rows], name)

    def test_model_says_how_a_tag_becomes_a_parameter(self):
        result = common.run('model', self.write('in.afperf', SMALL))
        self.assertEqual(3, result.status)
        self.assertIn('-O parameter=tag:NAME', result.err)

    def test_extra_fields_are_lost_only_where_the_version_does_not_have_them(self):
        extra = SMALL.replace('RegionStop,140,0x11', 'RegionStop,140,0x11,0xNEW')
        path = self.write('in.afperf', extra)
        self.assertIn('cannot hold fields beyond those of version 1.0', self.convert(path, self.path('out.afperf')))
        self.assertEqual(SMALL.encode(), self.read('out.afperf'))
        self.assertEqual(1, common.run('convert', '--strict', path, self.path('strict.afperf')).status)
        path = self.write('later.afperf', extra.replace('1.0.0', '1.4.0'))
        self.assertEqual('', self.convert(path, self.path('out.afperf')))
        self.assertEqual(extra.replace('1.0.0', '1.4.0').encode(), self.read('out.afperf'))

    def test_an_empty_field_at_the_end_is_one_with_quotes_too(self):
        """Quotes around nothing change nothing: the record stays, as it does when it was written again."""
        query = 'select measurement, value from record order by id'
        answers = [common.run('sql', '--json', self.write('in.afperf', SMALL.replace(',0xa,1\n', f',0xa,1{end}')), query).json for end in ('\n', ',\n', ',""\n', ',""\r\n')]
        self.assertEqual(5, len(answers[0]))
        self.assertEqual([answers[0]] * 3, answers[1:])

    def test_to_cube_and_back(self):
        """With sections as they were."""
        path = self.write('in.afperf', SMALL)
        said = self.convert(path, self.path('out.cubex'))
        self.assertIn('cube cannot hold 6 events', said)
        self.convert(self.path('out.cubex'), self.path('back.afperf'))
        self.assertValues({**VALUES, ('time covered', 'io'): 40e-9, ('visits', 'io'): 2}, self.nodes(self.path('back.afperf')))
        self.assertEqual(b'', common.run('validate', self.path('back.afperf')).err.encode())

    def test_to_perun_and_back(self):
        path = self.write('in.afperf', SMALL)
        self.convert(path, self.path('out.perf'))
        self.assertIn('order of call paths that is made up', self.convert(self.path('out.perf'), self.path('back.afperf')))
        self.assertValues(VALUES, self.nodes(self.path('back.afperf')))

    def test_to_hpctoolkit_and_back(self):
        """Whose values are doubles."""
        path = self.write('in.afperf', SMALL)
        self.assertIn('last digits of 1 value', self.convert('--to', 'hpctoolkit-4', path, self.path('out')))
        self.convert(self.path('out'), self.path('back.afperf'))
        got = self.nodes(self.path('back.afperf'))
        self.assertValues({key: float(value) for key, value in VALUES.items()}, {k: float(v) for k, v in got.items()})

    def test_an_experiment_and_back(self):
        text = 'PARAMETER p n\nPOINTS (1 10) (2 10) (4.5 10)\nMETRIC time\nREGION main\nDATA 3 4\nDATA 5\nDATA 0.5\nREGION main->f\nDATA 1.5 2\nDATA 1e-6\nDATA 0\nMETRIC bytes\nREGION main\nDATA 7 8\nDATA 1\nDATA 12\n'
        path = self.write('in.txt', text)
        self.convert(path, self.path('out.afperf'))
        written = self.read('out.afperf').decode()
        self.assertEqual(4, written.count('RunInfo'))
        self.assertEqual(1, written.count('p=4.5;n=10'))
        back = ('sql', '--json', '-O', 'parameter=tag:p,tag:n', self.path('out.afperf'))
        self.assertEqual([3], [row['n'] for row in common.run(*back, 'select count(*) as n from point').json])
        query = ('select m.name as metric, c.path as path, p.label as point, o.mean as mean from measurement o join metric m on m.id = o.metric '
                 'join context c on c.id = o.context join point p on p.id = o.point')
        expected = {(r['metric'], r['path'], r['point']): r['mean'] for r in common.run('sql', '--json', path, query).json}
        got = {(r['metric'], r['path'], r['point']): r['mean'] for r in common.run(*back, query).json}
        self.assertEqual(9, len(expected))
        self.assertValues(expected, got, 12)

    def test_several_become_a_container(self):
        a, b = self.write('a.afperf', SMALL), self.write('b.afperf', SMALL.replace('size=4', 'size=8'))
        for verb in (('merge', a, b, '-o'), ('convert', a, b)):
            out = self.path(verb[0] + '.afperf')
            self.assertFine(common.run(*verb, out))
            text = self.read(verb[0] + '.afperf').decode()
            self.assertTrue(text.startswith(SMALL))
            self.assertEqual(len(SMALL.splitlines()) * 2 - 1, len(text.splitlines()))
            rows = common.run('sql', '--json', out, "select r.id as id, v.value as size from run r join attribute v on v.owner = 'run' and v.owner_id = r.id where v.key = 'tag:size' order by 1").json
            self.assertEqual(['4', '8'], [str(row['size']) for row in rows])
            rows = common.run('sql', '--json', out, "select run, count(*) as n from event group by 1").json
            self.assertEqual([6, 6], [row['n'] for row in rows])
            self.assertEqual([], common.run('info', '--json', out).json['problems'])

    def test_what_is_computed_is_written_as_a_tree(self):
        path = self.write('in.afperf', SMALL)
        result = common.run('cut', '--root', 'solve', path, '-o', self.path('cut.afperf'))
        self.assertEqual(0, result.status, result)
        self.assertValues({('time', 'solve'): 60e-9, ('visits', 'solve'): 2, ('Work', 'solve'): 0.25}, self.nodes(self.path('cut.afperf')))

    def test_the_corpus(self):
        """Where there is one: nothing is lost or said."""
        corpus = os.path.join(os.environ.get('ASSAY_CORPUS', ''), 'afperf')
        for name in sorted(os.listdir(corpus)) if os.path.isdir(corpus) else []:
            if name.endswith('.afperf'):
                self.assertEqual('', self.convert('--strict', os.path.join(corpus, name), self.path('out.afperf')))


if __name__ == '__main__':
    common.main()
