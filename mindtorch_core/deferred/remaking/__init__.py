"""Values that are made again where a late op reads them, rather than kept in memory until then.

Of a network with GELU, what a layer passes on is kept for the next one's weights, and what it was made of for
its own gradient. The first follows from the second by a pass over memory. Where a backend says that an op may
run again (`Runtime.remakes`), such values are made again, by the same kernel, so that bits stay the same: in
what was recorded before a plan is asked for, and in programs before they are compiled.
"""
