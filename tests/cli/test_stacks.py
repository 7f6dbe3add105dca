"""Folded stacks, speedscope profiles and Chrome traces of datasets of other formats: decoded here, and compared with SQL's answers."""
import collections
import json
import os
import re

import hpctoolkit
from common import SMALL, Case, main, run
from cubex import processes, profile
from protobuf import Profile

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')
HEAT, CAPTURE, EXPORT, DATABASE = (os.path.join(EXAMPLES, name) for name in ('heat.cubex', 'simulation.afperf', 'gpu/filter.sqlite', 'heat-hpctoolkit'))


def fold(text):
    """stack -> amount"""
    sums = collections.defaultdict(float)
    for line in text.splitlines():
        stack, amount = line.rsplit(' ', 1)
        sums[stack] += float(amount)
    return dict(sums)


def stacks_of(document):
    """profile name -> stack -> weight, of sampled profiles"""
    frames = [f['name'] for f in document['shared']['frames']]
    found = {}
    for p in document['profiles']:
        sums = found.setdefault(p['name'], collections.defaultdict(float))
        assert p['type'] == 'sampled' and len(p['samples']) == len(p['weights'])
        for stack, weight in zip(p['samples'], p['weights']):
            sums[';'.join(frames[i] for i in stack)] += weight
    return found


UNITS = {'none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds', 'bytes'}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_speedscope(document):
    """What the file format's specification asks for, and what speedscope refuses."""
    assert document['$schema'] == 'https://www.speedscope.app/file-format-schema.json'
    assert isinstance(document.get('name', ''), str) and isinstance(document.get('exporter', ''), str)
    frames, profiles = document['shared']['frames'], document['profiles']
    assert profiles and 0 <= document.get('activeProfileIndex', 0) < len(profiles)
    for f in frames:
        assert isinstance(f['name'], str) and isinstance(f.get('file', ''), str)
        assert is_number(f.get('line', 0)) and is_number(f.get('col', 0))
    for p in profiles:
        assert isinstance(p['name'], str) and p['unit'] in UNITS and is_number(p['startValue']) and is_number(p['endValue'])
        assert p['startValue'] <= p['endValue']
        if p['type'] == 'sampled':
            assert len(p['samples']) == len(p['weights']) and all(is_number(w) for w in p['weights'])
            assert all(type(i) is int and 0 <= i < len(frames) for stack in p['samples'] for i in stack)
            continue
        assert p['type'] == 'evented'
        opened, last = [], p['startValue']
        for e in p['events']:
            assert last <= e['at'] <= p['endValue'] and type(e['frame']) is int and 0 <= e['frame'] < len(frames)
            last = e['at']
            if e['type'] == 'O':
                opened.append(e['frame'])
            else:
                assert e['type'] == 'C' and opened.pop() == e['frame']
        assert not opened


class Stacks(Case):
    def convert(self, source, name, *options):
        result = run('convert', source, self.path(name), '--quiet', *options)
        self.assertEqual((0, '', ''), (result.status, result.out, result.err), result)
        return self.read(name).decode()

    def test_folded_stacks_of_one_frame_each_are_known_by_their_name_or_as_functions_and_counts(self):
        single = b'main 3\nidle 4\n'
        self.assertEqual([{'name': 'main', 'value': 3}, {'name': 'idle', 'value': 4}],
                         self.query(self.write('x.folded', single), 'select name, value from value v join context c on v.context = c.id'))
        for name in ('x.collapsed', 'out.kern_folded', 'out.perf-folded', 'x.folded.txt'):
            self.assertIn('Folded stacks', run('info', self.write(name, single)).out, name)
        for name in ('x', 'x.txt', 'unfolded'):
            self.assertIn('Folded stacks', run('info', self.write(name, single)).out, name)
            self.assertIn('is of no format', run('info', self.write(name, b'main 3.5\nidle 4\n')).err, name)

    def test_speedscope_is_as_specified(self):
        for source, options in ((HEAT, ()), (CAPTURE, ()), (CAPTURE, ('-O', 'profiles=sampled')), (EXPORT, ()), (DATABASE, ()), (DATABASE, ('-O', 'profiles=sampled', '-O', 'locations=sum'))):
            check_speedscope(json.loads(self.convert(source, 'x.speedscope.json', *options)))

    def query(self, path, sql):
        result = run('sql', '--json', path, sql)
        self.assertFine(result)
        return result.json

    def assertSame(self, want, got):
        self.assertEqual({k for k, v in want.items() if v}, {k for k, v in got.items() if v})
        for k, v in want.items():
            self.assertAlmostEqual(v, got.get(k, 0), delta=1e-9 * abs(v) + 1e-15, msg=k)

    def test_folded_is_what_flame_prints(self):
        for source in (HEAT, DATABASE, EXPORT):
            self.assertEqual(run('flame', '--folded', source).out, self.convert(source, 'x.folded'), source)

    def test_folded_values_are_those_of_sql(self):
        """Cube: exclusive values of call paths, added up over locations."""
        rows = self.query(HEAT, "select p.path as path, sum(n.exclusive) as v from node n join metric m on m.id = n.metric join context p on p.id = n.context where m.name = 'time' group by p.path")
        want = {r['path'].replace('->', ';'): r['v'] for r in rows}
        self.assertSame(want, fold(self.convert(HEAT, 'x.folded')))

    def test_folded_and_back(self):
        first = self.convert(HEAT, 'x.folded')
        again = self.convert(self.path('x.folded'), 'y.folded')
        self.assertEqual(first, again)
        visits = self.convert(HEAT, 'v.folded', '-O', 'metric=visits')
        self.assertIn('main 8\n', visits)
        two = self.convert(HEAT, 'two.folded', '-O', 'metric=time,visits')
        self.assertTrue(all(len(line.split(' ')) >= 3 for line in two.splitlines()))
        self.assertEqual(['before', 'after'], [m['name'] for m in self.query(self.path('two.folded'), 'select name from metric')])
        self.assertEqual(two, self.convert(self.path('two.folded'), 'again.folded'))

    def test_folded_options(self):
        path = self.write('p.folded', 'main;a 5\nmain;b 7.5\n')
        rows = run('sql', '--json', '-O', 'metric_name=time', '-O', 'unit=us', path, 'select name, unit, sum(value) as v from value join metric m on m.id = metric').json
        self.assertEqual([{'name': 'time', 'unit': 'us', 'v': 12.5}], rows)

    def test_folded_amounts_are_plain(self):
        """flamegraph.pl knows digits and a point; speedscope and inferno know digits."""
        lines = self.convert(HEAT, 'x.folded').splitlines()
        self.assertEqual([], [line for line in lines if not re.search(r' \d+(\.\d*)?$', line)])
        self.assertIn('main 0.00007994407304856566', lines)
        exact, whole = fold('\n'.join(lines)), fold(self.convert(HEAT, 'ns.folded', '-O', 'unit=ns'))
        self.assertEqual({stack: round(amount * 1e9) for stack, amount in exact.items()}, whole)
        self.assertIn('main 79944', self.read('ns.folded').decode().splitlines())
        result = run('convert', HEAT, self.path('v.folded'), '-O', 'metric=visits', '-O', 'unit=ns')
        self.assertEqual(2, result.status)
        self.assertIn('-O unit is for times', result.err)

    def test_one_run_of_an_experiment(self):
        """The first repetition at the largest point, or the one that is named."""
        text = self.write('small.txt', SMALL)
        self.assertEqual('main;sort 4\nmain;join 40\n', self.convert(text, 'x.folded'))
        self.assertEqual('main;sort 1.5\nmain;join 11\n', self.convert(text, 'y.folded', '-O', 'run=1'))
        lost = run('convert', text, self.path('z.folded')).err
        self.assertIn('7 runs beyond one', lost)
        self.assertIn('2 parameters', lost)

    def test_speedscope_profiles_are_locations(self):
        document = json.loads(self.convert(HEAT, 'x.speedscope.json'))
        found = stacks_of(document)
        self.assertEqual(8, len(found))
        together = collections.defaultdict(float)
        for sums in found.values():
            for k, v in sums.items():
                together[k] += v
        self.assertSame(fold(self.convert(HEAT, 'x.folded')), together)
        for p in document['profiles']:
            self.assertEqual('seconds', p['unit'])
            self.assertAlmostEqual(sum(p['weights']), p['endValue'], delta=1e-9)
        summed = stacks_of(json.loads(self.convert(HEAT, 's.speedscope.json', '-O', 'locations=sum')))
        self.assertSame(fold(self.convert(HEAT, 'x.folded')), summed['time'])
        # and read again: the same values at the same places
        want = run('stat', '--json', HEAT, '--metric', 'time').json
        sums = 'select sum(value) as v from value'
        self.assertAlmostEqual(sum(together.values()), self.query(self.path('x.speedscope.json'), sums)[0]['v'], delta=1e-9)
        self.assertTrue(want)

    def test_many_locations_are_added_up_and_that_is_said(self):
        """Each up to 64; more are one profile unless they are wanted."""
        for n in (64, 65):
            document = {'shared': {'frames': [{'name': 'f'}]},
                        'profiles': [{'type': 'sampled', 'name': 't%d' % i, 'unit': 'none', 'startValue': 0, 'endValue': 1, 'samples': [[0]], 'weights': [i]} for i in range(1, n + 1)]}
            source = self.write('%d.json' % n, json.dumps(document).encode())
            result = run('convert', source, self.path('out.speedscope.json'))
            self.assertEqual(0, result.status)
            self.assertEqual(n == 65, '65 locations: more than 64 are added up' in result.err, result.err)
            weights = [p['weights'] for p in json.loads(self.read('out.speedscope.json'))['profiles']]
            self.assertEqual([[65 * 66 // 2]] if n == 65 else [[i] for i in range(1, 65)], weights)
        self.assertEqual(65, len(json.loads(self.convert(source, 'each.speedscope.json', '-O', 'locations=each'))['profiles']))

    def test_speedscope_of_several_metrics(self):
        document = json.loads(self.convert(HEAT, 'x.speedscope.json', '-O', 'metric=time,visits', '-O', 'locations=sum'))
        self.assertEqual([('time', 'seconds'), ('visits', 'none')], [(p['name'], p['unit']) for p in document['profiles']])
        self.assertEqual({'time', 'visits'}, {m['name'] for m in self.query(self.path('x.speedscope.json'), 'select name from metric')})
        self.assertEqual([{'n': 0}], self.query(self.path('x.speedscope.json'), 'select count(*) as n from location'))

    def check_nesting(self, document):
        """name of a frame -> seconds"""
        frames, sums = [f['name'] for f in document['shared']['frames']], collections.defaultdict(float)
        for p in document['profiles']:
            open_frames, last = [], p['startValue']
            for e in p['events']:
                self.assertGreaterEqual(e['at'], last)
                last = e['at']
                if e['type'] == 'O':
                    open_frames.append((e['frame'], e['at']))
                else:
                    frame, at = open_frames.pop()
                    self.assertEqual(frame, e['frame'])
                    sums[frames[frame]] += (e['at'] - at) / 1e9
            self.assertEqual([], open_frames)
            self.assertLessEqual(last, p['endValue'])
        return sums

    def test_time_lines_in_speedscope(self):
        for source, run_id in ((CAPTURE, 0), (EXPORT, 0)):
            got = self.check_nesting(json.loads(self.convert(source, 'x.speedscope.json')))
            rows = self.query(source, f'select name, sum("end" - start) as v from event where "end" is not null and run = {run_id} group by name')
            want = {r['name']: r['v'] for r in rows if r['v']}
            self.assertEqual(set(want), {k for k, v in got.items() if v})
            for name, value in want.items():
                self.assertAlmostEqual(value, got[name], delta=1e-6, msg=name)
        self.check_nesting(json.loads(self.convert(DATABASE, 'd.speedscope.json')))

    def test_time_lines_come_back(self):
        self.convert(CAPTURE, 'x.speedscope.json')
        sql = 'select name, count(*) as n, round(sum("end" - start), 6) as v from event where run = 0 and "end" is not null group by name order by name'
        self.assertEqual(self.query(CAPTURE, sql), self.query(self.path('x.speedscope.json'), sql))

    def test_chrome_traces(self):
        for source in (CAPTURE, EXPORT):
            document = json.loads(self.convert(source, 'x.trace.json'))
            self.assertNotIn('displayTimeUnit', document)  # older versions of trace_processor take times for nanoseconds then
            count, sums, threads, open_ones, stacks = collections.Counter(), collections.defaultdict(float), {}, {}, collections.defaultdict(list)
            for e in document['traceEvents']:
                if e['ph'] == 'M':
                    if e['name'] == 'thread_name':
                        threads[e['pid'], e['tid']] = e['args']['name']
                    continue
                if e['ph'] == 'e':
                    sums[e['name']] += e['ts'] - open_ones.pop((e['id'], e['name']))
                    continue
                if e['ph'] == 'E':
                    name, start = stacks[e['pid'], e['tid']].pop()
                    self.assertEqual(name, e['name'])
                    sums[name] += e['ts'] - start
                    continue
                count[e['name']] += 1
                if e['ph'] == 'b':
                    open_ones[e['id'], e['name']] = e['ts']
                    continue
                self.assertIn((e['pid'], e['tid']), threads)
                self.assertIn(e['ph'], 'Bi')
                if e['ph'] == 'B':
                    stacks[e['pid'], e['tid']].append((e['name'], e['ts']))
            self.assertEqual(({}, []), (open_ones, [stack for stack in stacks.values() if stack]))
            rows = self.query(source, 'select name, count(*) as n, total("end" - start) as v from event group by name')
            self.assertEqual({r['name']: r['n'] for r in rows}, dict(count))
            for r in rows:
                self.assertAlmostEqual(r['v'] * 1e6, sums[r['name']], delta=1e-2, msg=r['name'])
        self.assertEqual({'tag:platform': 'F15_ABC'}, next(e['args'] for e in json.loads(self.convert(CAPTURE, 'y.trace.json'))['traceEvents'] if e['name'] == 'radar'))

    def test_parts_of_nanoseconds(self):
        """Traces have whole nanoseconds: what is rounded is said."""
        def source(name, *times):
            events = [{'type': kind, 'frame': k, 'at': at} for k, (begin, end) in enumerate(times) for kind, at in (('O', begin), ('C', end))]
            document = {'shared': {'frames': [{'name': 'f'}] * len(times)}, 'profiles': [{'type': 'evented', 'name': 't', 'unit': 'seconds', 'startValue': 0, 'endValue': 4000, 'events': events}]}
            return self.write(name, json.dumps(document))
        rounded = source('rounded.speedscope.json', (0, 1e-9), (3e-9, 4.5e-9), (5.25e-9, 7e-9))
        whole = source('whole.speedscope.json', (0, 1e-9), (3e-9, 0.1), (0.3, 1.000000001), (1.123456789, 3600.123456789))
        for name in 'x.trace.json', 'x.pftrace':
            self.assertIn('the parts of a nanosecond in the times of 2 events', run('convert', rounded, self.path(name)).err)
            self.assertNotIn('nanosecond', run('convert', whole, self.path(name)).err)

    def test_names_that_would_be_something_else(self):
        """What is written for them is another name, and that is said."""
        def told(*names):
            frames = [{'name': name} for name in names]
            profile = {'type': 'sampled', 'name': 't', 'unit': 'none', 'startValue': 0, 'endValue': 1, 'samples': [[i] for i in range(len(names))], 'weights': [1] * len(names)}
            source = self.write('names.speedscope.json', json.dumps({'shared': {'frames': frames}, 'profiles': [profile]}))
            found = re.search(r'(\d+) names? that would be taken', run('convert', source, self.path('names.folded')).err)
            return int(found[1]) if found else 0, self.read('names.folded').decode()
        self.assertEqual((0, 'main 1\nx 5 1\n'), told('main', 'x 5'))
        self.assertEqual((3, '#_x 1\nbom 1\n? 1\n#y 1\n'), told('# x', '\ufeffbom', '', '#y'))
        self.assertEqual((2, 'x_5 1\nf_6 1\n'), told('x 5', 'f 6'))

    def test_amounts_that_are_no_numbers(self):
        """No line and no weight of them could be read again: they are left out, and that is said."""
        source = self.write('odd.txt', 'PARAMETER p\nPOINTS 4\nMETRIC time\n' + ''.join(f'REGION main->{name}\nDATA {value}\n' for name, value in (('a', 'nan'), ('b', 'inf'), ('c', '5'), ('d', '-inf'))))
        for name in 'x.folded', 'x.speedscope.json':
            self.assertIn('cannot hold 3 values that are infinite or no number', run('convert', source, self.path(name)).err)
            self.assertEqual([{'path': 'main->c', 'value': 5}], run('sql', '--json', self.path(name), 'select c.path, v.value from value v join context c on c.id = v.context').json)
            self.assertEqual(1, run('convert', '--strict', source, self.path('strict.folded')).status)
        told = run('flame', '--folded', source)
        self.assertEqual(('main;c 5\n', 0), (told.out, told.status))
        self.assertIn('3 stacks are left out whose amount is infinite or no number', told.err)
        huge = run('flame', '--folded', self.write('huge.folded', 'a;b 1e308\n' * 20 + 'c 1\n'))
        self.assertEqual('c 1\n', huge.out)
        self.assertIn('1 stack is left out', huge.err)

    def test_times_that_nanoseconds_cannot_say(self):
        """They end where 62 bits do, and that is said, whatever is written."""
        for end, said in ((4.6e9, ''), (4.7e9, 'the times of 1 event more than 146 years after the first'), (1e300, 'the times of 1 event more than 146 years after the first')):
            events = [{'type': kind, 'frame': k, 'at': at} for k, (begin, end) in enumerate(((0, 1), (2, end))) for kind, at in (('O', begin), ('C', end))]
            profile = {'type': 'evented', 'name': 't', 'unit': 'seconds', 'startValue': 0, 'endValue': end, 'events': events}
            source = self.write('late.speedscope.json', json.dumps({'shared': {'frames': [{'name': 'f'}, {'name': 'g'}]}, 'profiles': [profile]}))
            for name in 'x.trace.json', 'x.pftrace', 'x.speedscope.json':
                told = run('convert', source, self.path(name)).err
                self.assertIn(said, told)
                self.assertEqual(bool(said), 'years' in told)
            with open(self.path('x.trace.json'), encoding='utf-8') as f:
                self.assertEqual(min(int(end), 2**62 / 1e9), max(e['ts'] for e in json.load(f)['traceEvents'] if 'ts' in e) / 1e6)

    def test_samples_in_chrome_traces(self):
        """Slices of one thread nest, and nothing on it goes back in time."""
        open_ones, last, n = collections.defaultdict(list), {}, 0
        for e in json.loads(self.convert(DATABASE, 'x.trace.json'))['traceEvents']:
            if e['ph'] not in 'BE':
                continue
            line = e['pid'], e['tid']
            self.assertGreaterEqual(e['ts'], last.get(line, 0))
            last[line] = e['ts']
            if e['ph'] == 'B':
                open_ones[line].append(e['name'])
                n += 1
            else:
                self.assertEqual(open_ones[line].pop(), e['name'])
        self.assertGreater(len(last), 1)
        self.assertGreater(n, 10)
        self.assertEqual([], [stack for stack in open_ones.values() if stack])

    def test_deep_recursion(self):
        """60,000 frames are read, shown and converted; beyond 65,536 is refused."""
        depth = 60000
        path = self.write('deep.folded', ';'.join(['f'] * depth) + ' 7\n')
        for source in path, self.path('deep.speedscope.json'), self.path('deep.pb.gz'):
            if source != path:
                self.assertFine(run('convert', '--quiet', path, source))
            self.assertEqual([{'n': depth, 'depth': depth - 1}], self.query(source, 'select count(*) as n, max(depth) as depth from context'))
            self.assertIn('7', run('tree', source, '--depth', '3').out)
            nodes = run('flame', '--json', source).json['nodes']
            self.assertEqual((depth, {('f', 7)}, 7), (len(nodes), {(e['name'], e['value']) for e in nodes}, nodes[-1]['self']))
            self.assertFine(run('flame', source, '-o', self.path('deep.svg')))
            self.assertEqual(';'.join(['f'] * depth) + ' 7\n', run('flame', '--folded', source).out)
        result = run('info', self.write('deeper.folded', ';'.join(['f'] * 65537) + ' 7\n'))
        self.assertEqual((3, True), (result.status, 'more frames than can be read' in result.err))

    def test_samples_that_would_repeat_endless_paths(self):
        """60,000 call paths in each other, all with values: 1.8e9 frames of samples."""
        depth = 60000
        text = 'f(' * (depth - 1) + 'f' + ')' * (depth - 1)
        path = self.write('deep.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', [(1,)] * depth)], text, processes(1)))
        out = self.path('deep.pb.gz')
        result = run('convert', path, out)
        self.assertEqual((3, True), (result.status, 'more than 1000000000 frames' in result.err), result)
        self.assertFalse(os.path.exists(out))

    def test_names_that_lines_cannot_have(self):
        document = {'shared': {'frames': [{'name': 'x;y'}, {'name': 'x:y'}, {'name': 'a\tb'}, {'name': 'fine'}]},
                    'profiles': [{'type': 'sampled', 'name': 't', 'unit': 'none', 'samples': [[0], [1], [2], [3], [3, 0]], 'weights': [1, 2, 4, 8, 16]}]}
        source = self.write('names.speedscope.json', json.dumps(document))
        result = run('convert', source, self.path('names.folded'))
        self.assertIn("';' and control characters in 2 names", result.err)
        with open(self.path('names.folded'), encoding='utf-8') as f:
            self.assertEqual(['a b 4', 'fine 8', 'fine;x:y 16', 'x:y 3'], sorted(f.read().splitlines()))
        fine = self.write('fine.speedscope.json', json.dumps({**document, 'shared': {'frames': [{'name': n} for n in 'abcd']}}))
        self.assertNotIn('control', run('convert', fine, self.path('fine.folded')).err)

    def test_zero_bytes_in_names(self):
        source = self.write('zero.speedscope.json', json.dumps({'shared': {'frames': [{'name': 'a\0b'}, {'name': 'a'}]},
            'profiles': [{'type': 'sampled', 'name': 't', 'unit': 'none', 'samples': [[0], [1]], 'weights': [1, 2]}]}))
        self.assertFine(run('convert', '--quiet', source, self.path('zero.pb.gz')))
        written = Profile(self.path('zero.pb.gz'))
        self.assertEqual(['a', 'a\0b'], sorted(written.strings[f.name] for f in written.functions.values()))

    def test_zero_bytes_in_names_of_time_lines(self):
        events = [{'type': kind, 'frame': 0, 'at': at} for kind, at in (('O', 0), ('C', 1))]
        profile = {'type': 'evented', 'name': 't', 'unit': 'seconds', 'startValue': 0, 'endValue': 1, 'events': events}
        source = self.write('zero-line.speedscope.json', json.dumps({'shared': {'frames': [{'name': 'a\0b'}]}, 'profiles': [profile]}))
        for name in 'zero.trace.json', 'zero.pftrace':
            self.assertFine(run('convert', '--quiet', source, self.path(name)))
        with open(self.path('zero.trace.json'), encoding='utf-8') as f:
            self.assertEqual({'a\0b'}, {e['name'] for e in json.load(f)['traceEvents'] if e['ph'] in 'BE'})
        with open(self.path('zero.pftrace'), 'rb') as f:
            self.assertIn(b'\x12\x03a\0b', f.read())

    def test_hostile_names(self):
        name = '<script>alert("x")</script>\\;\t'
        path = self.write('h.speedscope.json', json.dumps({'shared': {'frames': [{'name': name}, {'name': 'ä\u2028'}]}, 'profiles': [
            {'type': 'evented', 'name': name, 'unit': 'seconds', 'startValue': 0, 'endValue': 2,
             'events': [{'type': 'O', 'frame': 0, 'at': 0}, {'type': 'O', 'frame': 1, 'at': 1}, {'type': 'C', 'frame': 1, 'at': 2}, {'type': 'C', 'frame': 0, 'at': 2}]}]}))
        self.assertEqual({name, 'ä\u2028'}, {e['name'] for e in json.loads(self.convert(path, 'x.trace.json'))['traceEvents'] if e['ph'] == 'B'})
        self.assertEqual({name, 'ä\u2028'}, {f['name'] for f in json.loads(self.convert(path, 'y.speedscope.json'))['shared']['frames']})
        folded = self.convert(path, 'x.folded')
        self.assertEqual(['<script>alert("x")</script>\\:  1', '<script>alert("x")</script>\\: ;ä\u2028 1', ''], folded.split('\n'))

    def test_what_cannot_be_written(self):
        self.assertFails(run('convert', HEAT, self.path('x.trace.json'), '--quiet'), 3, 'no time line')
        self.assertFails(run('convert', HEAT, self.path('x.speedscope.json'), '--quiet', '-O', 'profiles=evented'), 3, 'no time line')
        self.assertFails(run('convert', HEAT, self.path('x.folded'), '--quiet', '-O', 'metric=nothing'), 2, 'nothing')
        self.assertFails(run('convert', HEAT, self.path('x.folded'), '--quiet', '-O', 'run=7'), 2, 'there is no run 7')
        self.assertEqual([], self.files())


class Losses(Case):
    """What a target cannot hold is told, and nothing else."""
    EVENTED = {'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': [{'name': 'main', 'file': 'm.c', 'line': 1}, {'name': 'f'}]},
               'profiles': [{'type': 'evented', 'name': 't', 'unit': 'milliseconds', 'startValue': 0, 'endValue': 10,
                             'events': [{'type': 'O', 'frame': 0, 'at': 0}, {'type': 'O', 'frame': 1, 'at': 2}, {'type': 'C', 'frame': 1, 'at': 5}, {'type': 'C', 'frame': 0, 'at': 10}]}]}
    SAMPLED = {'type': 'sampled', 'name': 'u', 'unit': 'milliseconds', 'startValue': 0, 'endValue': 4, 'samples': [[0, 1]], 'weights': [4]}

    def losses(self, source, target):
        result = run('convert', '--to', target, source, self.path('out-' + target))
        self.assertEqual(0, result.status, result)
        return [line.split(' cannot hold ')[1] for line in result.err.splitlines() if ' cannot hold ' in line]

    def test_a_time_line_has_its_values_again(self):
        self.assertEqual([], self.losses(self.write('a.speedscope.json', json.dumps(self.EVENTED)), 'speedscope'))
        both = {**self.EVENTED, 'profiles': [*self.EVENTED['profiles'], self.SAMPLED]}
        self.assertEqual(['1 location without events', 'the values of 1 metric beside the time line (-O metric=NAME writes them instead)'], self.losses(self.write('b.speedscope.json', json.dumps(both)), 'speedscope'))

    def test_texts_that_nobody_sees_are_not_lost(self):
        self.assertFalse([text for text in self.losses(self.write('a.speedscope.json', json.dumps(self.EVENTED)), 'cube') if 'control' in text])

    def test_details_are_told(self):
        n_kinds = int(run('sql', '--csv', HEAT, "select count(*) from region where kind not in ('function', 'region', 'root', '')").out.split()[1])
        self.assertGreater(n_kinds, 0)
        for target in ('folded', 'speedscope', 'pprof', 'callgrind', 'perun', 'afperf'):
            with self.subTest(target):
                found = self.losses(HEAT, target)
                self.assertIn(f'the kind of {n_kinds} regions', found)
                self.assertIn('the display name of 5 metrics', found)
                self.assertEqual(1, sum('source files of regions' in text or 'last line of' in text for text in found), found)
        self.assertFalse([text for text in self.losses(HEAT, 'cube')])
        waves = os.path.join(EXAMPLES, 'waves-extra-prof')  # two kernels, border and inside, each with its launch
        for target, is_lost in (('folded', True), ('extrap-experiment', True), ('perun', True), ('pprof', False), ('cube-set', False)):
            self.assertEqual(is_lost, 'the mangled name of 4 regions' in self.losses(waves, target), target)

    def test_what_a_database_stores_beside_its_values(self):
        for target in ('folded', 'pprof', 'perun', 'callgrind'):
            self.assertIn('the stored statistics', self.losses(DATABASE, target), target)
        self.assertIn('the start time of 1 run', self.losses(DATABASE, 'folded'))
        self.assertNotIn('the start time of 1 run', self.losses(DATABASE, 'pprof'))

    def test_call_paths(self):
        """Those that are 0, those that are one with others, and those that nothing but their numbers tells apart."""
        def told(source, target):
            return [text for text in self.losses(source, target) if re.search('call path|call site', text)]
        zero = self.write('zero.folded', 'main;f 3\nmain;g;h 0\nmain;k 1\n')
        twins = self.write('twins.cubex', profile([('time', 'DOUBLE', 'EXCLUSIVE', ((1,), (2,), (4,), (8,), (16,)))], 'main(f(g) f(g))', processes(1)))
        hpctoolkit.write_2021(self.path('calls'), hpctoolkit.small())   # three call sites, and a line without a number; all functions, loops and lines have something
        for target in ('folded', 'pprof', 'speedscope'):
            with self.subTest(target):
                self.assertEqual(['2 call paths without any amount'], told(zero, target))
                self.assertEqual(['what tells 2 call paths from others of the same names (they are one)'], told(twins, target))
                if target != 'speedscope':                             # which has the time line
                    self.assertEqual(['4 call sites or lines of code (one with whom they call, or are part of)'], told(self.path('calls'), target))
        self.assertEqual(['call paths (a function is one, whoever calls it)'], told(zero, 'callgrind'))

    def test_contexts_without_events(self):
        hpctoolkit.write_2021(self.path('database'), hpctoolkit.small())
        for target in ('speedscope', 'chrome-trace', 'perfetto'):      # all contexts were sampled; the stream has no trace
            self.assertIn('1 location without events', self.losses(self.path('database'), target))
            self.assertFalse([text for text in self.losses(self.path('database'), target) if 'contexts without events' in text])

    def test_parameters(self):
        source = self.write('a.txt', SMALL)
        for target in ('folded', 'speedscope', 'pprof', 'callgrind'):
            self.assertIn('2 parameters', self.losses(source, target), target)


if __name__ == '__main__':
    main()
