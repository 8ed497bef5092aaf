"""Reads a profile of pprof by its wire format: prints each sample as -o folded has it, times added up.

Fails on what is not as proto/profile.proto wants it: numbers of strings and locations that are not
there, a first string that is not empty, other than two values."""
import collections
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def members(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, key
            length, at = varint(data, at)
            value = data[at:at + length]
            assert len(value) == length
            at += length
        yield key >> 3, value


def table(data):
    found = collections.defaultdict(list)
    for member, value in members(data):
        found[member].append(value)
    return found


profile = table(sys.stdin.buffer.read())
strings = [text.decode() for text in profile[6]]
assert strings[0] == '' and len(strings) == len(set(strings))
kinds = [table(kind) for kind in profile[1]]
assert [strings[kind[1][0]] for kind in kinds] == ['waits', 'time']
assert strings[profile[14][-1]] == 'time' and profile[9] and profile[10]
functions = {}
for one in map(table, profile[5]):
    name, where = strings[one[2][0]], strings[one[4][0]] if one[4] else None
    assert one[1][0] not in functions
    functions[one[1][0]] = (name, where)
locations = {}
for one in map(table, profile[4]):
    line = table(one[4][0])
    name, where = functions[line[1][0]]
    number = ':%d' % line[2][0] if line[2] else ''
    assert one[1][0] not in locations
    locations[one[1][0]] = '%s (%s%s)' % (name, where, number) if where else name
times = collections.Counter()
for one in map(table, profile[2]):
    assert len(one[2]) == 2
    label = table(one[3][0])
    assert strings[label[1][0]] == 'process'
    frames = [locations[number] for number in one[1]]
    times[';'.join([strings[label[2][0]]] + frames[::-1])] += one[2][1]
for stack, ns in sorted(times.items()):
    print(stack, ns)
