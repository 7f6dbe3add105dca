"""stat over occurrences: how long regions and sections took, one by one, and what was measured of them. Expected numbers are arithmetic by hand."""
import csv
import io
import json
import unittest

from captures import FLIGHT, SIGNATURE, region, run_info, section
from common import SMALL, Case, run, run_on_terminal

TYPES = ('MeasurementType,100,0x1,0xa,cpu,double,s,,\nMeasurementType,100,0x1,0xb,memory,int64,B,,\nMeasurementType,100,0x1,0xc,state,enum,text,,\n'
         'MeasurementType,100,0x1,0xd,load,double,count,,\nMeasurementType,100,0x1,0xe,ready,bool,count,,\n')
# Four times `step`, of 1, 2, 3 and 4 seconds, with cpu, memory before and after, state; the run's load three times.
STEPS = SIGNATURE + run_info(units='milliseconds') + TYPES + ''.join(
    region(i, 'step', start, start + 1000 * i, f'size={i}',
           more=f'RegionAggregate,{100 + start + 1000 * i},{100 + start},{i:#x},,0xa,{i / 4}\nRegionPoint,{100 + start},{i:#x},0xb,1000\n'
                f'RegionPoint,{100 + start + 1000 * i},{i:#x},0xb,{1000 + 2 ** i},0xc,{"idle" if i == 1 else "busy"},0xe,{i % 2}\n')
    for i, start in ((1, 0), (2, 1000), (3, 3000), (4, 6000))) + 'RunPoint,100,0x1,0xd,0.5\nRunPoint,5100,0x1,0xd,2.5\nRunPoint,2100,0x1,0xd,1.5\n'


class Occurrences(Case):
    def steps(self, text=STEPS):
        return self.write('steps.afperf', text)

    def answer(self, *args, text=STEPS):
        result = run('stat', self.steps(text), '--json', *args)
        self.assertEqual(result.status, 0, result)
        return result.json

    def check(self, got, **expected):
        for key, value in expected.items():
            self.assertAlmostEqual(got[key], value, msg=key)

    def test_numbers(self):
        answer = self.answer()
        self.assertEqual((answer['over'], answer['runs'], len(answer['contexts'])), ('occurrences', 1, 1))
        step = answer['contexts'][0]
        self.assertEqual((step['path'], step['kind']), ('step', 'region'))
        self.check(step['metrics']['time']['inclusive'], count=4, sum=10, mean=2.5, min=1, max=4, stddev=1.25 ** .5, q1=1.75, median=2.5, q3=3.25, p90=3.7, p99=3.97)

    def test_worst(self):
        worst = self.answer('--worst', '2')['contexts'][0]['metrics']['time']['inclusive']['worst']
        self.assertEqual(len(worst), 2)
        self.check(worst[0], duration=4, start=6, end=10, run=0)
        self.check(worst[1], duration=3, start=3)
        self.assertEqual((worst[0]['source_id'], worst[0]['tags'], worst[0]['utc']), ('0x4', {'size': '4'}, '2023-11-14T22:13:26.250000Z'))
        self.assertEqual(len(self.answer('--worst', '0')['contexts'][0]['metrics']['time']['inclusive']['worst']), 0)

    def test_measures(self):
        answer = self.answer()
        measures = answer['contexts'][0]['measures']
        self.assertEqual(sorted(measures), ['cpu', 'memory', 'ready', 'state'])
        self.check(measures['cpu']['value'], count=4, sum=2.5, max=1)
        self.assertEqual(measures['cpu']['unit'], 's')
        self.check(measures['memory']['difference'], count=4, sum=2 + 4 + 8 + 16, min=2, max=16)
        self.check(measures['memory']['start'], count=4, min=1000, max=1000, stddev=0)
        self.check(measures['memory']['end'], sum=4030)
        self.assertEqual(measures['state']['values'], [{'value': 'busy', 'count': 3, 'share': .75}, {'value': 'idle', 'count': 1, 'share': .25}])
        self.assertEqual({v['value']: v['count'] for v in measures['ready']['values']}, {'0': 2, '1': 2})
        (load,) = answer['run_measures']
        self.assertEqual((load['run'], load['measure']), (0, 'load'))
        self.check(load['value'], count=3, min=.5, mean=1.5, max=2.5)
        self.check(load, first=.5, last=2.5)

    def test_inclusive_and_exclusive(self):
        inclusive = {c['path']: c['metrics']['time']['inclusive']['sum'] for c in self.answer(text=FLIGHT)['contexts']}
        self.assertEqual(inclusive, {'frame': 10, 'frame->move': 7, 'frame->move->radar': 2, 'io': 11, 'pause': 1})
        exclusive = {c['path']: c['metrics']['time']['exclusive']['sum'] for c in self.answer('--exclusive', text=FLIGHT)['contexts']}
        self.assertEqual(exclusive, {'frame': 3, 'frame->move': 5, 'frame->move->radar': 2, 'io': 11, 'pause': 1})
        kinds = {c['path']: c['kind'] for c in self.answer(text=FLIGHT)['contexts']}
        self.assertEqual(kinds, {'frame': 'region', 'frame->move': 'region', 'frame->move->radar': 'region', 'io': 'section', 'pause': 'pause'})

    def test_pauses(self):
        sums = {c['path']: c['metrics']['time']['inclusive']['sum'] for c in self.answer('-O', 'deduct_pauses=yes', text=FLIGHT)['contexts']}
        self.assertEqual(sums, {'frame': 9, 'frame->move': 6, 'frame->move->radar': 2, 'io': 9, 'pause': 1})

    def test_pauses_among_the_worst(self):
        """The first took longest by the clock, and paused 6 of its 10 seconds."""
        text = SIGNATURE + run_info() + region(1, 'a', 0, 10) + 'PauseResume,108,102,0x1\n' + region(2, 'a', 20, 25)
        for options, expected in (((), [(10, 0), (5, 20)]), (('-O', 'deduct_pauses=yes'), [(5, 20), (4, 0)])):
            worst = self.answer(*options, text=text)['contexts'][0]['metrics']['time']['inclusive']['worst']
            self.assertEqual([(w['duration'], w['start']) for w in worst], expected)

    def test_paused_throughout(self):
        """Exactly nothing is left of it, whatever the times: each is inside the second pause of its run."""
        spans = [(5000000007 + 1000003 * i, 5000000007 + 1000003 * i + 7 * i + 3) for i in range(200)]
        text = (SIGNATURE + run_info(units='nanoseconds') + ''.join(region(i + 1, 'a', start, end) for i, (start, end) in enumerate(spans)) +
                'PauseResume,3100000107,100,0x1\nPauseResume,9000000011,4000000003,0x1\n')
        time = next(c for c in self.answer('-O', 'deduct_pauses=yes', text=text)['contexts'] if c['path'] == 'a')['metrics']['time']['inclusive']
        self.assertEqual((time['count'], time['min'], time['max']), (200, 0, 0))

    def test_measures_of_sections(self):
        """Each interval has its own: 3 and 50, by ids and by the order of the records."""
        for ids in (('0x9,1', '0x9,2'), ('0x9,0x1', '0x9,0xff')):
            text = (SIGNATURE + run_info() + 'MeasurementType,100,0x1,0x5,memory,int64,B,,\nMeasurementType,100,0x1,0x6,state,string,text,,\nSectionInfo,100,0x1,0x9,io,\n'
                    'SectionStart,110,{0}\nSectionPoint,110,{0},0x5,100\nSectionStart,112,{1}\nSectionPoint,112,{1},0x5,1000\nSectionStop,120,{0}\nSectionPoint,120,{0},0x5,103\n'
                    'SectionStop,130,{1}\nSectionPoint,130,{1},0x5,1050,0x6,"a ""b"""\n').format(*ids)
            measures = self.answer(text=text)['contexts'][0]['measures']
            self.check(measures['memory']['difference'], count=2, sum=53, min=3, max=50)
            self.check(measures['memory']['start'], count=2, min=100, max=1000)
            self.assertEqual(measures['state']['values'], [{'value': 'a "b"', 'count': 1, 'share': 1}])
            groups = run('tree', self.steps(text), '--group-by', 'region', '--metric', 'memory', '--json').json
            self.assertIn('53', json.dumps(groups))

    def test_measures_of_one_id(self):
        """A region of the id of a section, and ids that come again, keep their values apart."""
        text = SIGNATURE + run_info() + 'MeasurementType,100,0x1,0x5,work,int64,count,,\n' + ''.join(
            f'RegionStart,{time},0x1,0x9,{label},\nRegionStop,{time + 2},0x9\nRegionAggregate,{time + 2},{time},0x9,,0x5,{value}\n'
            for time, label, value in ((110, 'a', 7), (120, 'b', 30))) + (
            'SectionInfo,100,0x1,0x9,io,\nSectionStart,130,0x9,1\nSectionStop,140,0x9,1\nSectionAggregate,140,130,0x9,1,,0x5,500\n')
        sums = {c['path']: c['measures']['work']['value']['sum'] for c in self.answer(text=text)['contexts']}
        self.assertEqual(sums, {'a': 7, 'b': 30, 'io': 500})

    def test_runs(self):
        text = SIGNATURE + run_info(1) + run_info(2, wallclock=1700000100) + region(1, 'a', 0, 1) + region(2, 'a', 5, 8, run=2)
        self.check(self.answer(text=text)['contexts'][0]['metrics']['time']['inclusive'], count=2, sum=4)
        one = self.answer('--run', '1', text=text)['contexts'][0]['metrics']['time']['inclusive']
        self.check(one, count=1, sum=3)
        self.assertEqual((one['worst'][0]['run'], one['worst'][0]['utc']), (1, '2023-11-14T22:15:05.000000Z'))

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(run('stat', self.steps(), '--csv').out)))
        time = [r for r in rows if r['metric'] == 'time']
        self.assertEqual(len(time), 1)
        self.assertEqual((time[0]['callpath'], time[0]['part'], time[0]['count'], float(time[0]['p90']), float(time[0]['max_at'])), ('step', 'inclusive', '4', 3.7, 6))
        self.assertEqual([(r['value'], r['count'], r['share']) for r in rows if r['metric'] == 'state'], [('busy', '3', '0.75'), ('idle', '1', '0.25')])
        self.assertEqual([r['part'] for r in rows if r['metric'] == 'memory'], ['difference', 'start', 'end'])
        self.assertEqual([(r['run'], r['part'], r['first'], r['last']) for r in rows if r['metric'] == 'load'], [('0', 'point', '0.5', '2.5')])
        worst = list(csv.DictReader(io.StringIO(run('stat', self.steps(), '--csv', '--worst', '2').out)))
        self.assertEqual([(float(r['duration']), float(r['start']), r['tags'], r['source_id']) for r in worst], [(4, 6, 'size=4', '0x4'), (3, 3, 'size=3', '0x3')])

    def test_several_files(self):
        flight = self.write('flight.afperf', FLIGHT)
        answers = run('stat', '--json', self.steps(), flight).json
        self.assertEqual([a['over'] for a in answers], ['occurrences'] * 2)
        rows = list(csv.DictReader(io.StringIO(run('stat', '--csv', '--metric', 'time', self.steps(), flight).out)))
        self.assertEqual([r['file'] for r in rows][:2], [self.steps(), flight])
        small = self.write('small.txt', SMALL)
        result = run('stat', '--csv', flight, small)
        self.assertEqual(result.status, 2, result)
        self.assertIn('--over decides', result.err)

    def test_text(self):
        out = run('stat', self.steps()).out
        self.assertIn('over 4 occurrences', out)
        self.assertRegex(out, r'step +4 +10.* s +2\.5.* s')
        out = run('stat', self.steps(), '--worst', '1').out
        self.assertIn('2023-11-14T22:13:26.250000Z', out)
        self.assertIn('size=4', out)
        out = run('stat', self.steps(), '--metric', 'memory', '--metric', 'state', '--metric', 'load').out
        for words in ('end - start', 'at the start', 'at the end', 'busy', '75.0', 'load of the run'):
            self.assertIn(words, out)

    def test_terminal(self):
        text = SIGNATURE + run_info() + ''.join(region(i, 'outermost' if i == 1 else f'a region with a rather long name {i}', i, 200 - i) for i in range(1, 12))
        for columns in (60, 80, 120, 200):
            shown = run_on_terminal('stat', self.steps(text), '--color', 'never', columns=columns)
            self.assertEqual(shown.status, 0)
            for line in shown.out.splitlines():
                self.assertLessEqual(len(line), columns, line)

    def test_order_and_limits(self):
        flight = self.write('flight.afperf', FLIGHT)

        def first(*args):
            return next(csv.reader(run('stat', flight, '--csv', '--metric', 'time', '-n', '1', *args).out.splitlines()[1:]))[0]
        self.assertEqual(first('--sort', 'sum'), 'io')
        self.assertEqual(first('--sort', 'max'), 'frame')
        self.assertEqual(first('--sort', 'p99'), 'frame')
        self.assertEqual(first('--sort', 'median'), 'frame')
        self.assertEqual(first('--sort', 'count', '--match', 'frame'), 'frame->move')
        self.assertEqual(len(run('stat', flight, '--csv', '--match', 'radar$').out.splitlines()), 2)

    def test_one_context(self):
        flight = self.write('flight.afperf', FLIGHT)
        answer = run('stat', flight, '--json', '--context', 'move').json
        self.assertEqual([c['path'] for c in answer['contexts']], ['frame->move'])
        out = run('stat', flight, '--context', 'radar').out
        self.assertIn('component=sensor', out)

    def test_slips(self):
        flight, small = self.write('flight.afperf', FLIGHT), self.write('small.txt', SMALL)
        for args, status, words in ((('--by', 'run', '--over', 'occurrences', flight), 2, '--by is about locations'),
                                    (('--over', 'occurrences', small), 3, 'has no events'),
                                    (('--worst', '3', small), 2, '--worst is about occurrences'),
                                    (('--sort', 'p99', small), 2, '--sort p99 is about occurrences'),
                                    (('--sort', 'excess', flight), 2, 'occurrences have no excess'),
                                    (('--metric', 'tiem', flight), 2, "did you mean 'time'?"),
                                    (('--metric', 'zzzzzz', flight), 2, 'there are time'),
                                    (('--match', 'zzz', flight), 2, 'no call path matches'),
                                    (('--worst', 'many', flight), 2, 'whole number'),
                                    (('--over', 'locations', '--group-by', 'platform', flight), 2, '--group-by is about occurrences')):
            result = run('stat', *args)
            self.assertEqual(result.status, status, (args, result))
            self.assertIn(words, result.err)
            self.assertEqual(result.err.count('\n'), 1, result)

    def test_unfinished(self):
        text = SIGNATURE + run_info() + 'RegionStart,110,0x1,0x5,a,\n' + region(6, 'b', 20, 30)
        worst = self.answer(text=text)['contexts'][0]['metrics']['time']['inclusive']['worst'][0]
        self.check(worst, duration=20, start=10)
        self.assertEqual(worst['attributes'], {'unfinished': 1})

    def test_sections_overlap(self):
        text = SIGNATURE + run_info() + section(0x20, 's', [(0, 4), (1, 3), (2, 10)])
        self.check(self.answer(text=text)['contexts'][0]['metrics']['time']['inclusive'], count=3, sum=14, median=4, max=8)

    def test_json_is_whole(self):
        json.dumps(self.answer(), allow_nan=False)


if __name__ == '__main__':
    unittest.main()
