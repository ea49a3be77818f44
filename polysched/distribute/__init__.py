"""Programs over ranks with memories of their own: owner maps, exact messages, and where they are sent.

    from polysched.distribute import distribute
    distributed = distribute(scop, "i")
"""

from polysched.distribute.distribution import Distributed, distribute
from polysched.distribute.messages import Gathered, Message
from polysched.distribute.owners import Partition

__all__ = ["Distributed", "Gathered", "Message", "Partition", "distribute"]
