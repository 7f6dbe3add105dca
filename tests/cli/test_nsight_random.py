"""Random exports of Nsight Systems, read by assay and by a second evaluation made from the rules alone: values at call paths and places, and events, are the same.
More of them: python3 test_nsight_random.py FIRST_SEED LAST_SEED"""
import collections
import json
import os
import subprocess
import sys
import unittest

import nsight_make as make
import nsight_model
import nsight_random
from common import ASSAY, Case, run

STATEMENTS = ['select v.context, c.path, m.name as metric, v.location, v.value from value v join context c on c.id = v.context join metric m on m.id = v.metric', 'select * from location',
              "select owner_id, key, value from attribute where owner = 'location'", 'select e.id, e.kind, e.name, e.start_raw, e.end_raw, e.location, c.path from event e left join context c on c.id = e.context',
              "select owner_id, key, value from attribute where owner = 'event'"]
SECONDS = ('time', 'gpu_time')


def ask(path):
    p = subprocess.run([ASSAY, 'sql', '--json', path, ';'.join(STATEMENTS)], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if p.returncode:
        return p.returncode, p.stderr.decode('utf-8', 'replace')
    text, decoder, at, out = p.stdout.decode(), json.JSONDecoder(), 0, []
    for _ in STATEMENTS:
        while text[at].isspace():
            at += 1
        rows, at = decoder.raw_decode(text, at)
        out.append(rows)
    return 0, out


def places(locations, attributes):
    """{location: place as the model has it}"""
    numbers = collections.defaultdict(dict)
    for a in attributes:
        numbers[a['owner_id']][a['key']] = a['value']
    out = {None: None}
    for l in locations:
        own, above = numbers[l['id']], numbers.get(l['parent'], {})
        out[l['id']] = {'thread': ('thread', above.get('pid'), own.get('tid')), 'stream': ('stream', own.get('pid'), above.get('device'), own.get('context'), own.get('stream'))}.get(l['kind'], (l['kind'],))
    return out


def differences(path, model):
    status, answer = ask(path)
    if status:
        return [('status', 0, (status, answer))]
    values, locations, attributes, events, more = answer
    place = places(locations, attributes)
    found = collections.defaultdict(float)
    for v in values:
        where = place[v['location']] if not v['path'].endswith('->GPU IDLE') else None
        found[v['path'], v['metric'], where] += v['value']
    wanted = {('->'.join(path), metric, where): float(value) / (1e9 if metric in SECONDS else 1) for (path, metric, where), value in model.values.items()}
    out = []
    for key in sorted(wanted.keys() | found.keys(), key=repr):
        a, b = wanted.get(key, 0), found.get(key, 0)
        if abs(a - b) > 1e-12 * max(abs(a), abs(b)) + (2e-13 if key[1] in SECONDS else 0):
            out.append((key, wanted.get(key), found.get(key)))
    of_event = collections.defaultdict(list)
    for a in more:
        of_event[a['owner_id']].append((a['key'], a['value']))
    want = collections.Counter((e.kind, e.name, e.start, e.end, e.place, e.path and '->'.join(e.path), e.attributes) for e in model.events)
    have = collections.Counter((e['kind'], e['name'], e['start_raw'], e['end_raw'], place[e['location']], e['path'], tuple(sorted(of_event[e['id']]))) for e in events)
    return out + [('event', e, None) for e in (want - have)] + [('event', None, e) for e in (have - want)]


class Exports(Case):
    seeds = range(0, 300)

    def test_values_and_events(self):
        path = self.path('a.sqlite')
        for seed in self.seeds:
            made = nsight_random.Random(seed, nsight_random.MODES[seed % len(nsight_random.MODES)])
            made.x.write(path)
            self.assertEqual([], differences(path, nsight_model.Model(path))[:4], seed)
            os.remove(path)

    def test_many_rows(self):
        """Tables that are read in pieces: what is known of their sums. Of n kernels that run at once each loses a part of a moment, all together n - 1 moments."""
        x, n = make.Export(), 300_000
        for i in range(100):
            x.region(f'main->r{i % 3}', i * 30_000, i * 30_000 + 29_999)
        x.table(make.RUNTIME)
        x.table(make.KERNEL)
        api, name = x.string('cudaLaunchKernel_v7000'), x.string('saxpy')
        count = f'with recursive n(i) as (select 0 union all select i + 1 from n where i < {n - 1})'
        x.sql(f'insert into {make.RUNTIME} (start, "end", globalTid, correlationId, nameId) {count} select i * 10 + 1, i * 10 + 1 + i % 7, {x.thread}, i + 1, {api} from n')
        x.sql(f'insert into {make.KERNEL} (start, "end", deviceId, contextId, streamId, correlationId, globalPid, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ) {count} '
              f'select i * 10 + i * 7919 % 13, i * 10 + i * 7919 % 13 + 1 + i * 104729 % 41, i % 2, 1, i % 16, i + 1, {make.global_pid(x.thread)}, {name}, 1 + i % 5, 1, 1, 32, 1, 1 from n')
        path = x.write(self.path('many.sqlite'))
        rows = run('sql', '--json', path, 'select c.path, m.name as metric, sum(v.value) as value from value v join context c on c.id = v.context join metric m on m.id = v.metric group by 1, 2').json
        found = {(r['path'], r['metric']): r['value'] for r in rows}
        lengths, overlap, launches = [0] * 3, 0, [0] * 3
        times = ([], [])
        for i in range(n):
            start, length, region = i * 10 + i * 7919 % 13, 1 + i * 104729 % 41, i // 3000 % 3
            lengths[region] += length
            launches[region] += i % 7
            times[i % 2].extend([(start, 1), (start + length, -1)])
        for device in times:
            running, last = 0, 0
            for time, change in sorted(device):
                overlap += max(0, running - 1) * (time - last)
                running, last = running + change, time
        for region in range(3):
            launch = f'main->r{region}->cudaLaunchKernel_v7000->saxpy'
            self.assertEqual(102_000 if region == 0 else 99_000, found[launch, 'visits'])        # 34 ranges, and twice 33
            self.assertAlmostEqual(launches[region] / 1e9, found[launch, 'time'], delta=1e-15)
            self.assertAlmostEqual(lengths[region] / 1e9, found[launch + '->GPU saxpy', 'gpu_time'], delta=1e-15)
        self.assertAlmostEqual(overlap / 1e9, sum(v for (p, m), v in found.items() if p.endswith('->OVERLAP')), delta=1e-12)
        self.assertEqual([{'kind': 'api', 'n': n}, {'kind': 'kernel', 'n': n}, {'kind': 'nvtx', 'n': 100}], run('sql', '--json', path, 'select kind, count(*) as n from event group by 1 order by 1').json)


if __name__ == '__main__':
    if len(sys.argv) == 3:
        Exports.seeds = range(int(sys.argv[1]), int(sys.argv[2]))
        del sys.argv[1:]
    unittest.main()
