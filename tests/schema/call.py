# A call by the client that openapi-python-client has generated. Usage: call.py ADDRESS (PYTHONPATH has the client)
import sys

from generated.api.attention import attention
from generated.client import Client
from generated.models import AttentionReply, AttentionRequestQkv

request = AttentionRequestQkv(q=[[1.0, 0.0]], k=[[1.0, 0.0]], v=[[3.0, 4.0]])
assert set(request.to_dict()) == {"q", "k", "v"}, request.to_dict()
reply = attention.sync(client=Client(base_url=sys.argv[1]), body=request)
assert isinstance(reply, AttentionReply), reply
assert reply.output == [[3.0, 4.0]], reply.output
assert reply.shape.queries == 1, reply.shape
