"""Programs over ranks with memories of their own: owner maps, exact messages, and where they are sent.

    from polysched.distribute import distribute
    distributed = distribute(scop, "i")
"""

from polysched.distribute.counts import InstanceCount, count_instances
from polysched.distribute.distribution import Distributed, distribute
from polysched.distribute.messages import Gathered, Message
from polysched.distribute.owners import Partition
from polysched.distribute.time_tiles import TimeTile

__all__ = ["Distributed", "Gathered", "InstanceCount", "Message", "Partition", "TimeTile", "count_instances",
           "distribute"]
