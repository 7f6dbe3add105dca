"""Random exports of Nsight Systems, read by assay and by a second evaluation made from the rules alone: values at call paths and places, and events, are the same.
More of them: python3 test_nsight_random.py FIRST_SEED LAST_SEED"""
import collections
import json
import os
import subprocess
import sys
import unittest

import nsight_model
import nsight_random
from common import ASSAY, Case

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


if __name__ == '__main__':
    if len(sys.argv) == 3:
        Exports.seeds = range(int(sys.argv[1]), int(sys.argv[2]))
        del sys.argv[1:]
    unittest.main()
