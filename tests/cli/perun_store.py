"""Writes Perun stores (.perun), for tests: objects, indexes of both versions, pending profiles, changes, and commits of git."""
import hashlib
import json
import os
import struct
import zlib


def profile(uid='f', amounts=(1, 2), kind='mixed', cmd='./bench', workload='small', collector='trace', postprocessors=()):
    """A profile of the new layout with one type of resources."""
    return {'header': {'type': kind, 'units': {kind: 'us'}, 'cmd': cmd, 'workload': workload},
            'collector_info': {'name': collector, 'params': {}}, 'postprocessors': [{'name': p, 'params': {}} for p in postprocessors],
            'resources': {f'{uid}#0': {'amount': list(amounts)}}, 'resource_type_map': {f'{uid}#0': {'type': kind, 'uid': uid}}, 'models': []}


def object_content(data, kind=None, length=None, word='profile'):
    text = data if isinstance(data, str) else json.dumps(data)
    kind = kind or (data['header']['type'] if isinstance(data, dict) else 'mixed')
    return f'{word} {kind} {len(text) if length is None else length}\0'.encode() + text.encode()


def entry(time, sha, name, details):
    out = struct.pack('<I', time) + bytes.fromhex(sha) + name.encode() + b'\0'
    for text in details or ():
        out += struct.pack('<I', len(text.encode())) + text.encode()
    return out


def details_of(data):
    header = data['header']
    return [header['type'], header['cmd'], header['workload'], data['collector_info']['name'], ' '.join(p['name'] for p in data['postprocessors'])]


def index(entries, version=2, count=None):
    """entries: (time, sha, name, details)."""
    packed = [entry(t, s, n, d if version == 2 else None) for t, s, n, d in sorted(entries, key=lambda e: (e[2], e[0]))]
    return b'pidx' + struct.pack('<ii', version, len(entries) if count is None else count) + b''.join(packed)


class Store:
    def __init__(self, parent):
        self.root = os.path.join(parent, '.perun')
        for folder in ('objects', 'jobs', 'logs', 'cache', 'stats', 'tmp'):
            os.makedirs(os.path.join(self.root, folder))

    def path(self, sha, ending=''):
        return os.path.join(self.root, 'objects', sha[:2], sha[2:] + ending)

    def put(self, sha, data, ending=''):
        os.makedirs(os.path.dirname(self.path(sha)), exist_ok=True)
        with open(self.path(sha, ending), 'wb') as f:
            f.write(data)

    def add(self, data, **changes):
        """Stores a profile; its hash."""
        content = object_content(data, **changes)
        sha = hashlib.sha1(content).hexdigest()
        self.put(sha, zlib.compress(content))
        return sha

    def commit(self, commit, profiles, version=2):
        """The index of a commit; profiles: (name, time, profile). The hashes."""
        hashes = [self.add(data) for _, _, data in profiles]
        self.put(commit, index([(t, sha, n, details_of(d)) for (n, t, d), sha in zip(profiles, hashes)], version))
        return hashes

    def pending(self, profiles, listed=True):
        """Files in jobs; profiles: (name, time, profile)."""
        for name, time, data in profiles:
            path = os.path.join(self.root, 'jobs', name)
            with open(path, 'w') as f:
                f.write(data if isinstance(data, str) else json.dumps(data, indent=2))
            os.utime(path, (time + 5, time + 5))
        if listed:
            entries = [(t, hashlib.sha1(n.encode()).hexdigest(), n, details_of(d)) for n, t, d in profiles]
            with open(os.path.join(self.root, 'jobs', '.index'), 'wb') as f:
                f.write(index(entries))

    def git_commit(self, commit, time):
        """The commit as a file of its own of the repository beside the store."""
        text = f'tree {"0" * 40}\nauthor A <a@b> 1 +0000\ncommitter C > D <c@d> {time} +0100\n\nmessage\n'.encode()
        path = os.path.join(os.path.dirname(self.root), '.git', 'objects', commit[:2], commit[2:])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(zlib.compress(b'commit %d\0' % len(text) + text))
