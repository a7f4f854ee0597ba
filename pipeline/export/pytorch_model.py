"""A network trained by voxswap, in PyTorch; `voxswap export --to pytorch` writes this file beside its weights.

    from model import load, save
    network = load("model.safetensors")            # strictly; an nn.Module in eval mode
    said = network.probabilities(image)            # N,C,D,H,W, or N,C,H,W of images; network.about says of what
    save(network, "tuned.safetensors")             # voxswap import tuned.safetensors --run RUN --out NEW_RUN

network(image) gives the logits, to train on. network.about is the file's metadata: modalities, outputs, preprocess,
normalization and more. Needs only PyTorch.
"""
import json
import struct

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Convolution, instance norm, leaky ReLU."""

    def __init__(self, inputs, outputs, slope, kernel=3, stride=1):
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, kernel, stride=stride, padding=kernel // 2)
        self.norm = nn.InstanceNorm3d(outputs, eps=1e-5, affine=True)
        self.slope = slope

    def forward(self, x):
        return functional.leaky_relu(self.norm(self.conv(x)), self.slope)


def twice(x):
    return functional.interpolate(x, scale_factor=2, mode="nearest")


class Head(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, 1)

    def forward(self, x):
        return self.conv(x)


# --- isensee2017


class Isensee2017Encoder(nn.Module):
    def __init__(self, inputs, outputs, stride, slope, dropout):
        super().__init__()
        self.input = Block(inputs, outputs, slope, stride=stride)
        self.context = nn.ModuleList(Block(outputs, outputs, slope) for _ in range(2))
        self.dropout = nn.Dropout3d(dropout)

    def forward(self, x):
        a = self.input(x)
        return a + self.context[1](self.dropout(self.context[0](a)))


class Isensee2017Decoder(nn.Module):
    def __init__(self, below, outputs, slope):
        super().__init__()
        self.up = Block(below, outputs, slope)
        self.localization = nn.ModuleList([Block(2 * outputs, outputs, slope), Block(outputs, outputs, slope, kernel=1)])

    def forward(self, x, skip):
        return self.localization[1](self.localization[0](torch.cat([skip, self.up(twice(x))], dim=1)))


class Isensee2017(nn.Module):
    def __init__(self, channels, outputs, base_filters, depth, slope, dropout, heads, **_):
        super().__init__()
        width = [base_filters * 2**level for level in range(depth)]
        self.encoder = nn.ModuleList(
            Isensee2017Encoder(width[level - 1] if level else channels, width[level], 2 if level else 1, slope, dropout)
            for level in range(depth))
        self.decoder = nn.ModuleList(Isensee2017Decoder(width[level + 1], width[level], slope) for level in range(depth - 1))
        head = Head if heads == "plain" else lambda inputs, outputs: Block(inputs, outputs, slope, kernel=1)
        self.head = nn.ModuleList(head(width[level], outputs) for level in range(min(2, depth - 2) + 1))

    def forward(self, x):
        skips = []
        for level in self.encoder:
            x = level(x)
            skips.append(x)
        logits = None
        for level in reversed(range(len(self.decoder))):
            x = self.decoder[level](x, skips[level])
            if level < len(self.head):
                said = self.head[level](x)
                logits = said if logits is None else said + twice(logits)
        return logits


# --- unet3d


class ReluConvs(nn.Module):
    """Two convolutions of kernel 3, each with a ReLU; in the decoder, after a transposed convolution."""

    def __init__(self, inputs, between, outputs, up=0):
        super().__init__()
        self.conv = nn.ModuleList([nn.Conv3d(inputs, between, 3, padding=1), nn.Conv3d(between, outputs, 3, padding=1)])
        if up:
            self.up = nn.ConvTranspose3d(up, up, 2, stride=2)

    def forward(self, x):
        for conv in self.conv:
            x = functional.relu(conv(x))
        return x


class UNet3d(nn.Module):
    def __init__(self, channels, outputs, base_filters, depth, upsampling, **_):
        super().__init__()
        width = [base_filters * 2**level for level in range(depth)]
        self.encoder = nn.ModuleList(
            ReluConvs(2 * width[level - 1] if level else channels, width[level], 2 * width[level]) for level in range(depth))
        self.decoder = nn.ModuleList(
            ReluConvs(6 * width[level], 2 * width[level], 2 * width[level],
                      up=4 * width[level] if upsampling == "transposed" else 0) for level in range(depth - 1))
        self.head = nn.ModuleList([Head(2 * width[0], outputs)])

    def forward(self, x):
        skips = []
        for level, convs in enumerate(self.encoder):
            x = convs(functional.max_pool3d(x, 2) if level else x)
            skips.append(x)
        for level in reversed(range(len(self.decoder))):
            convs = self.decoder[level]
            up = convs.up(x) if hasattr(convs, "up") else twice(x)
            x = convs(torch.cat([up, skips[level]], dim=1))
        return self.head[0](x)


# --- plain_unet and resenc_unet, with the names of dynamic-network-architectures


class Layer(nn.Module):
    """Convolution, instance norm, leaky ReLU (slope 1: none)."""

    def __init__(self, inputs, outputs, slope, kernel=(1, 1, 1), stride=(1, 1, 1), bias=True):
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, kernel, stride, padding=[side // 2 for side in kernel], bias=bias)
        self.norm = nn.InstanceNorm3d(outputs, eps=1e-5, affine=True)
        self.slope = slope

    def forward(self, x):
        return functional.leaky_relu(self.norm(self.conv(x)), self.slope)


class Layers(nn.Module):
    def __init__(self, count, inputs, outputs, slope, kernel, stride=(1, 1, 1)):
        super().__init__()
        self.convs = nn.Sequential(Layer(inputs, outputs, slope, kernel, stride),
                                   *(Layer(outputs, outputs, slope, kernel) for _ in range(count - 1)))

    def forward(self, x):
        return self.convs(x)


class LevelBlock(nn.Module):
    def __init__(self, inputs, outputs, slope, kernel, stride):
        super().__init__()
        self.conv1 = Layer(inputs, outputs, slope, kernel, stride)
        self.conv2 = Layer(outputs, outputs, 1, kernel)
        self.skip = nn.Sequential(*([nn.AvgPool3d(stride, stride)] if max(stride) > 1 else []),
                                  *([Layer(inputs, outputs, 1, bias=False)] if inputs != outputs else []))
        self.slope = slope

    def forward(self, x):
        return functional.leaky_relu(self.conv2(self.conv1(x)) + self.skip(x), self.slope)


class LevelBlocks(nn.Module):
    def __init__(self, count, inputs, outputs, slope, kernel, stride):
        super().__init__()
        self.blocks = nn.Sequential(LevelBlock(inputs, outputs, slope, kernel, stride),
                                    *(LevelBlock(outputs, outputs, slope, kernel, (1, 1, 1)) for _ in range(count - 1)))

    def forward(self, x):
        return self.blocks(x)


class NnUNet(nn.Module):
    """`kernels` and `strides` of every level, along x, y, z; the logits come from the first of `supervised_levels`."""

    def __init__(self, name, channels, outputs, base_filters, max_filters, depth, slope, kernels, strides,
                 supervised_levels, **_):
        super().__init__()
        width = [min(base_filters * 2**level, max_filters) for level in range(depth)]
        kernels, strides = [k[::-1] for k in kernels], [s[::-1] for s in strides]
        self.encoder, self.decoder = nn.Module(), nn.Module()
        residual = name == "resenc_unet"
        if residual:
            self.encoder.stem = Layers(1, channels, width[0], slope, kernels[0])
        stages = []
        for level in range(depth):
            inputs = width[level - 1] if level else width[0] if residual else channels
            shape = inputs, width[level], slope, kernels[level], strides[level]
            stages.append(LevelBlocks((1, 3, 4, 6)[min(level, 3)], *shape) if residual else nn.Sequential(Layers(2, *shape)))
        self.encoder.stages = nn.Sequential(*stages)
        upwards = list(reversed(range(depth - 1)))
        self.decoder.stages = nn.ModuleList(
            Layers(1 if residual else 2, 2 * width[level], width[level], slope, kernels[level]) for level in upwards)
        self.decoder.transpconvs = nn.ModuleList(
            nn.ConvTranspose3d(width[level + 1], width[level], strides[level + 1], strides[level + 1]) for level in upwards)
        self.decoder.seg_layers = nn.ModuleDict(
            {str(depth - 2 - level): nn.Conv3d(width[level], outputs, 1) for level in range(supervised_levels)})

    def forward(self, x):
        if hasattr(self.encoder, "stem"):
            x = self.encoder.stem(x)
        skips = []
        for stage in self.encoder.stages:
            x = stage(x)
            skips.append(x)
        for up, stage, skip in zip(self.decoder.transpconvs, self.decoder.stages, skips[-2::-1]):
            x = stage(torch.cat([up(x), skip], dim=1))
        return next(iter(self.decoder.seg_layers.values()))(x)


# --- resnet3d


class FinalNorm(nn.Module):
    def __init__(self, channels, slope):
        super().__init__()
        self.norm = nn.InstanceNorm3d(channels, eps=1e-5, affine=True)
        self.slope = slope

    def forward(self, x):
        return functional.leaky_relu(self.norm(x), self.slope)


class ResNet3d(nn.Module):
    def __init__(self, channels, outputs, base_filters, depth, slope, **_):
        super().__init__()
        self.stem = Block(channels, base_filters, slope)
        self.block = nn.ModuleList(
            nn.ModuleList(Block(base_filters, base_filters, slope) for _ in range(2)) for _ in range(depth))
        self.final = FinalNorm(base_filters, slope)
        self.head = nn.ModuleList([Head(base_filters, outputs)])

    def forward(self, x):
        x = self.stem(x)
        for first, second in self.block:
            x = x + second(first(x))
        return self.head[0](self.final(x))


# --- Networks of images, with torchvision's names


def conv(inputs, outputs, kernel, stride=1, dilation=1):
    return nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=dilation * (kernel // 2), dilation=dilation, bias=False)


class ResidualBlock(nn.Module):
    def __init__(self, inputs, planes, stride, dilation, bottleneck):
        super().__init__()
        outputs = 4 * planes if bottleneck else planes
        if bottleneck:
            convs = [conv(inputs, planes, 1), conv(planes, planes, 3, stride, dilation), conv(planes, outputs, 1)]
        else:
            convs = [conv(inputs, planes, 3, stride, dilation), conv(planes, planes, 3)]
        self.count = len(convs)
        for i, one in enumerate(convs, 1):
            setattr(self, f"conv{i}", one)
            setattr(self, f"bn{i}", nn.BatchNorm2d(one.out_channels))
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        past = self.downsample(x) if hasattr(self, "downsample") else x
        for i in range(1, self.count + 1):
            x = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(x))
            x = functional.relu(x + past if i == self.count else x)
        return x


class Backbone(nn.Module):
    """Computes a ResNet's feature maps, smaller than the image by `output_stride`."""

    def __init__(self, channels, base, blocks, bottleneck, output_stride):
        super().__init__()
        self.conv1 = conv(channels, base, 7, stride=2)
        self.bn1 = nn.BatchNorm2d(base)
        inputs, smaller, dilation = base, 4, 1
        for stage, count in enumerate(blocks):
            planes, stride, before = base * 2**stage, 1, dilation
            if stage > 0 and smaller < output_stride:
                stride, smaller = 2, 2 * smaller
            elif stage > 0:
                dilation *= 2
            layer = []
            for i in range(count):
                layer.append(ResidualBlock(inputs, planes, stride if i == 0 else 1, before if i == 0 else dilation, bottleneck))
                inputs = 4 * planes if bottleneck else planes
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layer))
        self.outputs = inputs

    def features(self, x):
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 3, stride=2, padding=1)
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))


class ResNet(Backbone):
    LAYOUTS = {"resnet18": ((2, 2, 2, 2), False), "resnet50": ((3, 4, 6, 3), True), "resnet101": ((3, 4, 23, 3), True),
               "resnet152": ((3, 8, 36, 3), True)}

    def __init__(self, name, channels, outputs, base_filters, depth, **_):
        blocks, bottleneck = ((3, 8, depth - 14, 3), True) if name == "resnet" else self.LAYOUTS[name]
        super().__init__(channels, base_filters, blocks, bottleneck, 32)
        self.fc = nn.Linear(self.outputs, outputs)

    def forward(self, x):
        return self.fc(self.features(x).mean((2, 3)))


class Pyramid(nn.Module):
    def __init__(self, inputs, channels, rates, dropout):
        super().__init__()

        def branch(*layers):
            return nn.Sequential(*layers, nn.BatchNorm2d(channels), nn.ReLU())

        self.convs = nn.ModuleList(
            [branch(conv(inputs, channels, 1))] + [branch(conv(inputs, channels, 3, dilation=rate)) for rate in rates] +
            [branch(nn.AdaptiveAvgPool2d(1), conv(inputs, channels, 1))])
        self.project = nn.Sequential(conv(5 * channels, channels, 1), nn.BatchNorm2d(channels), nn.ReLU(),
                                     nn.Dropout2d(dropout))

    def forward(self, x):
        maps = [branch(x) for branch in self.convs]
        maps[-1] = maps[-1].expand_as(maps[0])
        return self.project(torch.cat(maps, dim=1))


class DeepLabV3(nn.Module):
    def __init__(self, channels, outputs, base_filters, dropout, output_stride, **_):
        super().__init__()
        self.backbone = Backbone(channels, base_filters, (3, 4, 6, 3), True, output_stride)
        width, rate = 4 * base_filters, 12 if output_stride == 8 else 6
        self.classifier = nn.Sequential(
            Pyramid(self.backbone.outputs, width, [rate, 2 * rate, 3 * rate], dropout), conv(width, width, 3),
            nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, outputs, 1))

    def forward(self, x):
        logits = self.classifier(self.backbone.features(x))
        return functional.interpolate(logits, size=x.shape[-2:], mode="bilinear", align_corners=False)


# --- Files


def read_safetensors(path):
    """Returns the tensors by name, and the metadata."""
    with open(path, "rb") as file:
        content = bytearray(file.read())
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    about, tensors = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        part = content[8 + size + begin:8 + size + end]
        tensors[name] = torch.frombuffer(part, dtype=torch.float32).reshape(entry["shape"]).clone()
    return tensors, about


def save(network, path):
    """Writes the weights in single precision, as `voxswap import` reads them."""
    header, data = {"__metadata__": {"format": "pt"}}, []
    offset = 0
    for name, tensor in network.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        data.append(tensor.detach().float().cpu().contiguous().numpy().tobytes())
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(data[-1])]}
        offset += len(data[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def build(about):
    """Builds the network that the metadata describes, with random weights."""
    options = json.loads(about["network"])
    networks = {"isensee2017": Isensee2017, "unet3d": UNet3d, "plain_unet": NnUNet, "resenc_unet": NnUNet,
                "resnet3d": ResNet3d, "deeplabv3": DeepLabV3}
    kind = networks.get(options["name"], ResNet)
    named = kind in (ResNet, NnUNet)  # classes that implement several networks
    network = kind(**(options if named else {key: value for key, value in options.items() if key != "name"}))
    network.about = about
    last = torch.sigmoid if about["probabilities"] == "sigmoid" else lambda logits: torch.softmax(logits, dim=1)
    network.probabilities = lambda image: last(network(image))
    return network


def load(path):
    """Loads the trained network in eval mode. Raises if weights are missing or left over."""
    tensors, about = read_safetensors(path)
    network = build(about)
    network.load_state_dict(tensors, strict=True)
    return network.eval()
