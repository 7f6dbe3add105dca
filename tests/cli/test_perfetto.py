"""Perfetto traces, read with a decoder made from the document of protocol buffers and the definitions of the messages, by the rules that Perfetto's trace processor has:
what it would drop or count as an error fails here. Slices nest, and last as long as SQL says."""
import json
import os

import nsight_make as make
from common import SMALL, Case, main, run
from protobuf import TRACE, Message

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')
BEGIN, END, MOMENT = 1, 2, 3
CLEARED, NEEDED = 1, 2
EXPLICIT, NOT_MERGED = 1, 2
MOST_DEEP = 512  # deeper slices are dropped, and their ends end those around them


class Decoded:
    """A trace as the trace processor takes it: names and tracks by their numbers in order of the file, events in order of time (those of the same time in that of the file)."""

    def __init__(self, data):
        packets = Message(TRACE, data).packet
        self.tracks, self.processes, self.ranks, self.slices, self.moments, self.categories = {}, {}, [], [], [], set()
        names, kinds, keys = {}, {}, {}
        assert packets[0].sequence_flags == CLEARED
        opened, before = {}, {}
        for p in packets:
            assert p.trusted_packet_sequence_id == 1
            if p.track_descriptor:
                self.describe(p.track_descriptor)
            if p.interned_data:
                for table, found in ((names, p.interned_data.event_names), (kinds, p.interned_data.event_categories), (keys, p.interned_data.debug_annotation_names)):
                    for one in found:
                        assert one.iid and one.iid not in table
                        table[one.iid] = one.name
            if p.track_event:  # what they name must be known by now
                event, uuid = p.track_event, p.track_event.track_uuid
                assert p.sequence_flags == NEEDED and uuid in self.tracks and uuid not in self.processes
                assert p.timestamp < 1 << 63
                assert before.get(uuid, 0) <= p.timestamp, 'time goes back on a track'
                before[uuid] = p.timestamp
                assert event.type == END or event.name_iid in names
                assert all(i in kinds for i in event.category_iids)
        for p in sorted((p for p in packets if p.track_event), key=lambda p: p.timestamp):
            event, uuid = p.track_event, p.track_event.track_uuid
            stack = opened.setdefault(uuid, [])
            notes = {keys[a.name_iid]: a.string_value or a.double_value or a.uint_value or a.int_value for a in event.debug_annotations}
            if event.type == BEGIN:
                stack.append((names[event.name_iid], p.timestamp, notes))
                assert len(stack) <= MOST_DEEP
                self.categories |= {kinds[i] for i in event.category_iids}
            elif event.type == END:
                name, start, notes = stack.pop()
                self.slices.append((uuid, name, start, p.timestamp, len(stack), notes))
            else:
                assert event.type == MOMENT and len(stack) < MOST_DEEP
                self.moments.append((uuid, names[event.name_iid], p.timestamp))
        assert not any(opened.values()), 'slices that never end'

    def describe(self, d):
        if d.uuid == 0:
            assert not self.tracks and (d.process_ordering, d.thread_ordering) == (EXPLICIT, EXPLICIT)
            return
        assert d.uuid not in self.tracks
        self.ranks.append((bool(d.process), d.sibling_order_rank))
        if d.process:
            self.tracks[d.uuid] = d.process.process_name
            assert d.uuid == d.process.pid  # so that a parent can be asked for its process
            self.processes[d.process.pid] = d.process.process_name
        elif d.thread:
            assert d.thread.pid in self.processes and d.thread.tid not in self.processes
            self.tracks[d.uuid] = d.thread.thread_name
        else:
            assert d.parent_uuid in self.processes and d.sibling_merge_behavior == NOT_MERGED
            self.tracks[d.uuid] = d.name

    def sums(self):
        found = {}
        for _, name, start, end, _, _ in self.slices:
            n, t = found.get(name, (0, 0))
            found[name] = (n + 1, t + end - start)
        return found


class Perfetto(Case):
    def decoded(self, source):
        path = self.path('out.pftrace')
        result = run('convert', source, '-o', path)
        self.assertEqual(0, result.status, result)
        return Decoded(self.read('out.pftrace'))

    def sums(self, source):
        rows = run('sql', source, 'select name, count(*) as n, sum(end - start) as t from event where end is not null group by name', '--json').json
        return {r['name']: (r['n'], r['t'] * 1e9) for r in rows}

    def assertSums(self, source, trace):
        expected, found = self.sums(source), trace.sums()
        self.assertTrue(expected)
        self.assertEqual({k: n for k, (n, _) in expected.items()}, {k: n for k, (n, _) in found.items()})
        for name, (n, t) in expected.items():
            self.assertAlmostEqual(t, found[name][1], delta=n, msg=name)  # each is rounded to a nanosecond

    def test_capture(self):
        source = os.path.join(EXAMPLES, 'simulation.afperf')
        trace = self.decoded(source)
        self.assertSums(source, trace)
        self.assertEqual({'region', 'section', 'pause'}, trace.categories)
        sections = [s for s in trace.slices if s[1] == 'track fusion']
        self.assertEqual({0}, {depth for *_, depth, _ in sections})
        self.assertTrue({'track fusion', 'terrain paging', 'pauses'} <= set(trace.tracks.values()))

    def test_export_of_nsight(self):
        """Ranges that overlap are on two tracks, and attributes come along."""
        x = make.Export(make.CURRENT)
        x.range('step', 0, 800)
        x.call('cudaMalloc_v3020', 0, 200)
        x.launch('saxpy', (200, 400), (300, 700), stream=13)
        x.copy(make.TO_DEVICE, 700, 900, bytes=64, stream=13)
        x.osrt('poll', 100, 300)
        x.range('async', 0, 600, kind=make.START_END)
        x.range('async', 300, 900, kind=make.START_END)
        source = x.write(self.path('x.sqlite'))
        trace = self.decoded(source)
        self.assertSums(source, trace)
        lanes = {uuid for uuid, name, *_ in trace.slices if name == 'async'}
        self.assertEqual(2, len(lanes))
        depths = {name: depth for _, name, _, _, depth, _ in trace.slices}
        self.assertEqual((0, 1, 0), (depths['step'], depths['cudaMalloc_v3020'], depths['poll']))
        notes = next(notes for *_, name, start, end, _, notes in trace.slices if notes.get('bytes'))
        self.assertEqual(64, notes['bytes'])

    def test_samples_of_hpctoolkit(self):
        """Slices of calls, from the first to the last sample of each line."""
        source = os.path.join(EXAMPLES, 'heat-hpctoolkit')
        trace = self.decoded(source)
        rows = run('sql', source, 'select location, min(start_raw) as a, max(start_raw) as b from event group by location', '--json').json
        lines = {}
        for uuid, _, start, end, depth, _ in trace.slices:
            if depth == 0:
                lines[uuid] = lines.get(uuid, 0) + end - start
        self.assertEqual(len(rows), len(lines))
        spans = sorted(r['b'] - r['a'] for r in rows)
        for found, span in zip(sorted(lines.values()), spans):
            self.assertTrue(0 < found <= span)
        self.assertIn('main', {s[1] for s in trace.slices})
        self.assertEqual(['rank %d' % i for i in range(4)], list(trace.processes.values()))
        for is_process in (True, False):
            ranks = [rank for process, rank in trace.ranks if process == is_process]
            self.assertEqual(list(range(len(ranks))), ranks)

    def test_depth(self):
        """Slices in each other, more than the trace processor takes: the inner ones are on a track of their own, and all last as long as they did. So it is with Chrome's traces, which it reads the same way."""
        n = 600
        events = [{'type': 'O', 'frame': i, 'at': i} for i in range(n)] + [{'type': 'C', 'frame': i, 'at': 2 * n - i} for i in reversed(range(n))]
        source = self.write('deep.speedscope.json', json.dumps({
            '$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': [{'name': 'f%d' % i} for i in range(n)]},
            'profiles': [{'type': 'evented', 'name': 't', 'unit': 'nanoseconds', 'startValue': 0, 'endValue': 2 * n, 'events': events}]}))
        trace = self.decoded(source)
        self.assertEqual({('f%d' % i, i, 2 * n - i, i % MOST_DEEP) for i in range(n)}, {s[1:5] for s in trace.slices})
        self.assertEqual(2, len({s[0] for s in trace.slices}))
        self.assertEqual(0, run('convert', source, self.path('deep.trace.json')).status)
        most, opened = {}, {}
        for event in json.loads(self.read('deep.trace.json'))['traceEvents']:
            if event['ph'] in 'BE':
                opened[event['tid']] = opened.get(event['tid'], 0) + (1 if event['ph'] == 'B' else -1)
                most[event['tid']] = max(most.get(event['tid'], 0), opened[event['tid']])
        self.assertEqual([n - MOST_DEEP, MOST_DEEP], sorted(most.values()))

    def test_what_has_no_time_line_is_refused(self):
        result = run('convert', self.write('s.txt', SMALL), '-o', self.path('out.pftrace'))
        self.assertEqual(3, result.status, result)
        self.assertIn('no time line', result.err)
        self.assertNotIn('out.pftrace', self.files())


if __name__ == '__main__':
    main()
