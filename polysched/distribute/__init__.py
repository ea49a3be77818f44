"""Programs over ranks with memories of their own: owner maps, exact messages, and where they are sent.

    from polysched.distribute import distribute
    distributed = distribute(scop, "i")
"""

from polysched.distribute.counts import InstanceCount, count_instances
from polysched.distribute.distribution import Distributed, distribute
from polysched.distribute.messages import Gathered, Message
from polysched.distribute.owners import Partition
from polysched.distribute.picture import MessagePicture, draw_messages
from polysched.distribute.sent import Sent, sent
from polysched.distribute.time_tiles import TimeTile

__all__ = ["Distributed", "Gathered", "InstanceCount", "Message", "MessagePicture", "Partition", "Sent", "TimeTile",
           "count_instances", "distribute", "draw_messages", "sent"]
