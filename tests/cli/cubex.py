"""Making and decoding .cubex files without assay, from the description of the format: for tests of the reader and of the writer."""
import io
import re
import struct
import tarfile
import xml.etree.ElementTree as ET
import zlib

CODES = {'INT8': 'b', 'UINT8': 'B', 'INT16': 'h', 'UINT16': 'H', 'INT32': 'i', 'UINT32': 'I', 'INT64': 'q', 'UINT64': 'Q', 'DOUBLE': 'd', 'FLOAT': 'd', 'MINDOUBLE': 'd',
         'MAXDOUBLE': 'd', 'COMPLEX': 'dd', 'RATE': 'dd', 'TAU_ATOMIC': 'Idddd'}


def code_of(dtype):
    m = re.fullmatch(r'(NDOUBLES|HISTOGRAM)\((\d+)\)', dtype)
    return 'd' * (int(m.group(2)) + (2 if m.group(1) == 'HISTOGRAM' else 0)) if m else CODES[dtype]


# ---------------------------------------------------------------- making
def tar(members):
    """The bytes of an archive of {name: bytes}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=tarfile.USTAR_FORMAT) as t:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            t.addfile(info, io.BytesIO(content))
    return out.getvalue()


def index(numbers, order='<'):
    return b'CUBEX.INDEX' + struct.pack(f'{order}iHBI{len(numbers)}I', 1, 0, 1, len(numbers), *numbers)


def rows(dtype, values, order='<'):
    return b'CUBEX.DATA' + b''.join(packed_rows(dtype, values, order))


def packed(dtype, values, order='<'):
    plain = packed_rows(dtype, values, order)
    streams, table, at = [zlib.compress(p) for p in plain], b'', 0
    for i, (p, s) in enumerate(zip(plain, streams)):
        table += struct.pack(order + 'QQQ', i * len(p), at, len(s))
        at += len(s)
    return b'ZCUBEX.DATA' + struct.pack(order + 'Q', len(plain)) + table + b''.join(streams)


def packed_rows(dtype, values, order):
    code = code_of(dtype)
    return [b''.join(struct.pack(order + code, *(v if isinstance(v, (list, tuple)) else [v])) for v in row) for row in values]


def metric(number, name, dtype='DOUBLE', kind='EXCLUSIVE', inside=''):
    return (f'<metric id="{number}" type="{kind}"><disp_name>{name.upper()}</disp_name><uniq_name>{name}</uniq_name><dtype>{dtype}</dtype><uom>sec</uom><url></url>'
            f'<descr>about {name}</descr>{inside}</metric>\n')


def region(number, name, more=''):
    return (f'<region id="{number}" mod="{name}.c" begin="{number + 1}" end="-1"><name>{name}</name><mangled_name>_{name}</mangled_name><paradigm>compiler</paradigm>'
            f'<role>function</role><url></url><descr></descr>{more}</region>\n')


def tree(text):
    """Nested cnodes from 'main(sort(swap) join) other': names of regions; a cnode's id is its place."""
    tokens = re.findall(r'\w+|[()]', text)
    names, out, n = list(dict.fromkeys(t for t in tokens if t not in '()')), [], 0
    for token, following in zip(tokens, tokens[1:] + [' ']):
        if token == ')':
            out.append('</cnode>\n')
        elif token != '(':
            out.append(f'<cnode id="{n}" calleeId="{names.index(token)}">\n' + ('' if following == '(' else '</cnode>\n'))
            n += 1
    return ''.join(region(i, name) for i, name in enumerate(names)) + ''.join(out)


def system(n_locations):
    locations = ''.join(f'<location Id="{i}"><name>thread {i}</name><rank>{i}</rank><type>thread</type></location>\n' for i in range(n_locations))
    return ('<systemtreenode Id="0"><name>m</name><class>machine</class>\n<locationgroup Id="0"><name>p</name><rank>0</rank><type>process</type>\n'
            f'{locations}</locationgroup>\n</systemtreenode>\n<topologies>\n</topologies>\n')


def anchor(metrics, program, places, attributes='', doc='<doc>\n<mirrors>\n</mirrors>\n</doc>\n'):
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<cube version="4.4">\n{attributes}{doc}<metrics>\n{metrics}</metrics>\n<program>\n{program}</program>\n'
            f'<system>\n{places}</system>\n</cube>\n').encode()


def small(values=((1.0, 2.0), (10.0, 20.0), (100.0, 200.0), (1000.0, 2000.0)), kind='EXCLUSIVE', text='main(sort(swap) join)', numbers=None):
    """One metric, time; contexts main, main->sort, main->sort->swap, main->join; two locations. The values in the order of the file."""
    numbers = range(len(values)) if numbers is None else numbers
    return tar({'0.index': index(list(numbers)), '0.data': rows('DOUBLE', values), 'anchor.xml': anchor(metric(0, 'time', kind=kind), tree(text), system(len(values[0])))})


def processes(n, threads=1):
    """n processes of so many threads; location Ids 0, 1, … in order of rank."""
    out = '<systemtreenode Id="0"><name>m</name><class>machine</class>\n'
    for p in range(n):
        out += f'<locationgroup Id="{p}"><name>rank {p}</name><rank>{p}</rank><type>process</type>\n'
        for t in range(threads):
            out += f'<location Id="{p * threads + t}"><name>t{t}</name><rank>{t}</rank><type>thread</type></location>\n'
        out += '</locationgroup>\n'
    return out + '</systemtreenode>\n'


def profile(metrics, text, places):
    """metrics: (name, dtype, kind, values), rows of these in the order of the numbering of their kind."""
    members, described = {}, ''
    for i, (name, dtype, kind, values) in enumerate(metrics):
        members[f'{i}.index'] = index(list(range(len(values))))
        members[f'{i}.data'] = rows(dtype, values)
        described += metric(i, name, dtype, kind)
    return tar({**members, 'anchor.xml': anchor(described, tree(text), places)})


# ---------------------------------------------------------------- decoding
class Cube:
    """What a file says. Strict: whatever CubeLib's reader would refuse is an AssertionError."""
    def __init__(self, data):
        assert data[257:262] == b'ustar'
        with tarfile.open(fileobj=io.BytesIO(data), mode='r:') as t:         # checks the checksums
            infos = t.getmembers()
            self.members = {m.name: t.extractfile(m).read() for m in infos}
            assert len(self.members) == len(infos)
        self.anchor = self.members['anchor.xml'].decode('utf-8')
        self.root = ET.fromstring(self.anchor)
        self.version = self.root.get('version')
        self.attributes = [(a.get('key'), a.get('value')) for a in self.root.findall('attr')]
        self.mirrors = [m.text or '' for m in self.root.iter('murl')]
        self.metrics = [self.a_metric(m, p) for m, p in walk(self.root.find('metrics'), 'metric')]
        program = self.root.find('program')
        self.regions = [{**r.attrib, **texts(r), 'attrs': attrs(r)} for r in program.findall('region')]
        names = {r['id']: r['name'] for r in self.regions}
        assert len(names) == len(self.regions)
        self.cnodes = [{'id': c.get('id'), 'name': names[c.get('calleeId')], 'parent': p, 'line': c.get('line'), 'mod': c.get('mod'), 'attrs': attrs(c),
                        'parameters': [(x.get('partype'), x.get('parkey'), x.get('parvalue')) for x in c.findall('parameter')]} for c, p in walk(program, 'cnode')]
        self.locations = [{**texts(l), 'Id': int(l.get('Id')), 'attrs': attrs(l)} for l in self.root.iter('location')]
        self.locations.sort(key=lambda l: l['Id'])
        self.values = {m['uniq_name']: self.rows(m) for m in self.metrics}

    @staticmethod
    def a_metric(m, parent):
        return {**m.attrib, **texts(m), 'parent': parent, 'attrs': attrs(m)}

    def paths(self):
        out = []
        for c in self.cnodes:
            out.append(c['name'] if c['parent'] is None else out[c['parent']] + '->' + c['name'])
        return out

    def order(self, kind):
        """The cnode of each row number."""
        children = {}
        for i, c in enumerate(self.cnodes):
            children.setdefault(c['parent'], []).append(i)
        if kind != 'INCLUSIVE':
            return list(range(len(self.cnodes)))
        out = []
        for root in children.get(None, []):
            out.append(root)
            stack = [root]
            while stack:
                below = children.get(stack.pop(), [])
                out += below
                stack += reversed(below)
        return out

    def rows(self, m):
        """{cnode: [value of each location]}"""
        table, data = self.members.get(m['id'] + '.index'), self.members.get(m['id'] + '.data')
        if table is None:
            assert data is None
            return {}
        mark, version, kind, n = struct.unpack_from('<iHBI', table, 11)
        assert table[:11] == b'CUBEX.INDEX' and (mark, version, kind) == (1, 0, 1) and len(table) == 22 + 4 * n
        numbers = struct.unpack_from(f'<{n}I', table, 22)
        assert list(numbers) == sorted(set(numbers))
        code, width = code_of(m['dtype']), len(self.locations)
        size = struct.calcsize('<' + code) * width
        if data[:1] == b'Z':
            plain = self.unpacked(data, n, size)
        else:
            assert data[:10] == b'CUBEX.DATA'
            plain = data[10:]
        assert len(plain) == n * size
        order, out = self.order(m['type']), {}
        for i, number in enumerate(numbers):
            v = struct.unpack_from('<' + code * width, plain, i * size)
            k = len(v) // width
            out[order[number]] = list(v) if k == 1 else [v[j:j + k] for j in range(0, len(v), k)]
        return out

    @staticmethod
    def unpacked(data, n, size):
        assert data[:11] == b'ZCUBEX.DATA' and struct.unpack_from('<Q', data, 11) == (n,)
        base, at, plain = 19 + 24 * n, 0, b''
        for i in range(n):
            position, offset, length = struct.unpack_from('<QQQ', data, 19 + 24 * i)
            assert (position, offset) == (i * size, at)
            plain += zlib.decompress(data[base + offset:base + offset + length])
            at += length
        assert base + at == len(data)
        return plain


def texts(element):
    return {e.tag: e.text or '' for e in element if e.tag not in ('attr', 'metric', 'location', 'cnode')}


def attrs(element):
    return [(a.get('key'), a.get('value')) for a in element.findall('attr')]


def walk(top, tag):
    """(element, number of its parent) in pre-order; trees may be deep."""
    stack, n = [(e, None) for e in reversed(top.findall(tag))], 0
    while stack:
        element, parent = stack.pop()
        yield element, parent
        stack += [(e, n) for e in reversed(element.findall(tag))]
        n += 1


# What CubeLib's reader takes, by its own grammar: the elements in an element (each name with a blank behind it), and the attributes of a tag.
CHILDREN = {
    'cube': r'(attr )*(doc )?metrics program system ', 'doc': '(mirrors )?', 'mirrors': '(murl )*', 'metrics': '(metric )+',
    'metric': '((disp_name|uniq_name|dtype|uom|val|url|descr|cubepl|cubeplinit|cubeplaggr|attr) )*(metric )*', 'program': '(region )+(cnode )+',
    'region': '((name|mangled_name|paradigm|role|url|descr|attr) )*', 'cnode': '(parameter )*(attr )*(cnode )*', 'system': '(systemtreenode )+(topologies )?',
    'systemtreenode': 'name class (descr )?(attr )*(locationgroup )*(systemtreenode )*', 'locationgroup': 'name rank type (attr )*(location )+',
    'location': 'name rank type (attr )*', 'topologies': '(cart )*', 'cart': '(dim )*(coord )*'}
ATTRIBUTES = {
    'cube': 'version ', 'attr': 'key value ', 'metrics': '(title )?', 'metric': 'id ((type|viztype|convertible|cacheable) )*', 'program': '(title )?', 'system': '(title )?',
    'region': 'id mod begin end ', 'cnode': 'id (line )?(mod )?calleeId ', 'parameter': 'partype parkey parvalue ', 'systemtreenode': 'Id ', 'locationgroup': 'Id ',
    'location': 'Id ', 'cart': '((name|ndims) )*', 'dim': '((name|size|periodic) )*', 'coord': '(locId|lgId|stnId) ', 'cubeplaggr': 'cubeplaggrtype ', 'cubepl': '(rowwise )?'}
VERSIONS = ('4.0', '4.1', '4.2', '4.3', '4.4', '4.5', '4.7')


def grammar_errors(text):
    """What CubeLib's reader would not take of anchor.xml."""
    out = []
    if not text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<cube version="'):
        out.append('the beginning')
    closed = set(re.findall(r'<(\w+)[^<>]*/>', text)) - {'attr', 'parameter', 'dim'}
    out += [f'<{name}/>' for name in sorted(closed)]
    root = ET.fromstring(text)
    if root.get('version') not in VERSIONS:
        out.append(f'version {root.get("version")}')
    for e in root.iter():
        children, attributes = ''.join(c.tag + ' ' for c in e), ''.join(a + ' ' for a in e.attrib)
        if not re.fullmatch(CHILDREN.get(e.tag, ''), children):
            out.append(f'<{e.tag}> holds {children[:200]}')
        if not re.fullmatch(ATTRIBUTES.get(e.tag, ''), attributes):
            out.append(f'<{e.tag} {attributes}>')
        if e.tag == 'rank' and not re.fullmatch(r'\d+', e.text or ''):
            out.append(f'rank {e.text}')
    for tag, key in (('metric', 'id'), ('region', 'id'), ('cnode', 'id'), ('location', 'Id')):
        ids = sorted(int(e.get(key)) for e in root.iter(tag))
        if ids != list(range(len(ids))):
            out.append(f'ids of {tag}: {ids[:10]}')
    return out
