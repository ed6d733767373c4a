"""Calls of modules and functions of networks that ``help`` says are refused are refused, by that type of error."""

import pytest

import mindtorch_core as torch

# By the type of error; each line is a call.
REFUSED = {
    ValueError: """
        nn.Dropout(2)
        F.dropout(torch.ones(2),-1)
        nn.Conv2d(3,4,1,groups=2)
        nn.Conv2d(3,4,1,padding="none")
        nn.BatchNorm2d(3)(torch.ones(2,3))
        nn.BatchNorm2d(3)(torch.ones(1,3,1,1))
        nn.Conv1d(3,4,1,groups=2)
        nn.ConvTranspose2d(3,4,1,padding_mode="circular")
        nn.BatchNorm1d(3)(torch.ones(3))
        nn.BatchNorm1d(3)(torch.ones(1,3))
        nn.GroupNorm(2,3)
        nn.SmoothL1Loss(reduction="no")(torch.ones(2),torch.ones(2))
        nn.init.xavier_uniform_(torch.ones(2))
        nn.init.kaiming_normal_(torch.ones(2))
        nn.init.kaiming_normal_(torch.ones(2,2),mode="fan")
        F.mse_loss(torch.ones(2),torch.ones(2),reduction="no")
        F.cross_entropy(torch.ones(1,2),t([0]),reduction="no")
        F.hardtanh(t([1.]),2,1)
        F.affine_grid(torch.ones(1,3,3),(1,1,1,2),align_corners=False)
        F.dropout2d(torch.ones(1,1,1,1),2.)
        F.alpha_dropout(t([1.]),2.)
        F.dropout1d(torch.ones(1,1,1),2.)
        F.nll_loss(torch.ones(1,2),t([0]),reduction='no')
        F.nll_loss(torch.ones(1,2),t([0,1]))
        F.l1_loss(t([1.]),t([1.]),reduction='no')
        F.smooth_l1_loss(t([1.]),t([1.]),reduction='no')
        F.huber_loss(t([1.]),t([1.]),reduction='no')
        F.kl_div(t([1.]),t([1.]),reduction='no')
        F.poisson_nll_loss(t([1.]),t([1.]),reduction='no')
        F.interpolate(torch.ones(1,1,2))
        nn.Bilinear(0,1,1)
        nn.Conv3d(3,4,1,groups=2)
        nn.Conv3d(3,4,1,padding='x')
        nn.ConvTranspose1d(3,4,1,groups=2)
        nn.ConvTranspose1d(3,4,1,padding_mode='circular')
        nn.BatchNorm3d(3)(torch.ones(2,3))
        nn.BatchNorm3d(3)(torch.ones(1,3,1,1,1))
        nn.InstanceNorm2d(3)(torch.ones(3))
        nn.InstanceNorm2d(3)(torch.ones(1,3,1,1))
        nn.InstanceNorm1d(3)(torch.ones(3))
        nn.InstanceNorm1d(3)(torch.ones(1,3,1))
        nn.Dropout2d(2.)
        nn.AlphaDropout(2.)
        nn.EmbeddingBag(3,2,mode='x')(t([[1]]))
        nn.EmbeddingBag(3,2)(t([1,2]))
        nn.RNN(2,3,nonlinearity='x')
        nn.RNN(2,0)
        nn.GRU(2,0)
        nn.LSTM(2,0)
        nn.LSTM(2,3,proj_size=3)
        nn.MultiheadAttention(0,3)
        nn.BCELoss()(torch.ones(2),torch.ones(3))
        nn.TripletMarginLoss(margin=0.)
        nn.Module().train(1)
        nn.init.xavier_normal_(torch.ones(2))
        nn.init.kaiming_uniform_(torch.ones(2))
        nn.init.kaiming_uniform_(torch.ones(2,2),mode='x')
        nn.init.orthogonal_(torch.ones(2))
        F.adaptive_avg_pool2d(torch.ones(1,4,4),(1,2,3))
    """,
    RuntimeError: """
        nn.RMSNorm(3)(torch.ones(2))
        nn.MaxPool2d(2,padding=2)(torch.ones(1,4,4))
        nn.AvgPool2d(2,padding=2)(torch.ones(1,4,4))
        nn.AvgPool2d(2,divisor_override=0)(torch.ones(1,4,4))
        F.celu(t([1.]),0.)
        F.max_pool2d(torch.ones(1,4,4),2,padding=2)
        F.max_pool2d(torch.ones(1,1,1),2)
        F.adaptive_avg_pool2d(torch.ones(4),2)
        F.unfold(torch.ones(4),2)
        F.unfold(torch.ones(1,1,1,1),2)
        F.fold(torch.ones(1,4,5),(3,3),2)
        F.grid_sample(torch.ones(1,1,2,2),torch.ones(2,1,1,2),align_corners=False)
        F.smooth_l1_loss(t([1.]),t([1.]),beta=-1.)
        F.huber_loss(t([1.]),t([1.]),delta=0.)
        F.cosine_embedding_loss(torch.ones(1,2),torch.ones(1,2),torch.ones(1,1,1))
        F.ctc_loss(torch.zeros(4,1,3),t([[1,2]]),[4,4],[2])
        nn.MaxPool1d(2,padding=2)(torch.ones(1,4))
        nn.AvgPool1d(2,padding=2)(torch.ones(1,4))
        nn.Unflatten(1,(4,4))(torch.ones(4,6))
        nn.PixelShuffle(2)(torch.ones(1,3,1,1))
        nn.PixelShuffle(2)(torch.ones(4,1))
        nn.PixelShuffle(0)(torch.ones(1,4,1,1))
        nn.PixelUnshuffle(2)(torch.ones(1,3,1))
        nn.PixelUnshuffle(2)(torch.ones(4,2))
        nn.PixelUnshuffle(0)(torch.ones(1,4,1,1))
        nn.GLU()(torch.ones(3))
        nn.GLU()(torch.tensor(1.))
        nn.Transformer(8,2,1,1)(torch.ones(2,1,8),torch.ones(2,3,8))
        nn.Transformer(8,2,1,1)(torch.ones(2,1,4),torch.ones(2,1,8))
        nn.TransformerEncoderLayer(8,2,activation='x')
        nn.TransformerDecoderLayer(8,2,activation='x')
        nn.BCELoss()(torch.ones(2)*2,torch.ones(2))
    """,
    IndexError: """
        nn.Flatten(3)(torch.ones(2))
        nn.NLLLoss()(torch.ones(1,2),t([5]))
        F.cross_entropy(torch.ones(1,2),t([5]))
        F.softmax(torch.ones(2),3)
        F.log_softmax(t([1.]),3)
        F.softmin(t([1.]),3)
        F.normalize(t([1.]))
        F.embedding(t([5]),torch.ones(2,2))
        F.nll_loss(torch.ones(1,2),t([5]))
    """,
    TypeError: """
        nn.ModuleDict({"a":1})
        nn.ModuleDict([(1,nn.Identity())])
        nn.Sequential(1)
        nn.ModuleList([1])
        nn.Module(1)
        nn.Unflatten(1,('a',))
        nn.ParameterDict({1:torch.ones(1)})
    """,
    NotImplementedError: """
        F.interpolate(torch.ones(1,1,2),2,mode='bicubic')
    """,
    AssertionError: """
        nn.Transformer(8,3,1,1)
        nn.TransformerEncoderLayer(8,3)
        nn.TransformerDecoderLayer(8,3)
        nn.MultiheadAttention(8,3)
    """,
    AttributeError: """
        nn.Module().get_submodule('x')
    """,
}
CALLS = [(error, call) for error, lines in REFUSED.items() for call in lines.split()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("error", "call"), CALLS, ids=[call for _, call in CALLS])
def test_a_call_is_refused_as_help_says(error, call):
    scope = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, "t": torch.tensor}
    with pytest.raises(error) as raised:
        eval(call, scope)
    assert raised.type is error
