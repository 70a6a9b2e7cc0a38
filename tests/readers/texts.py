"""Small logs of text, one of each tool's shape, with a NaN in it where it prints one."""

TEXTS = {
    "DeepXDE": "# step, loss_train, loss_test, metrics_test\n"
    "0.000e+00 4.000e+00 2.500e-01 3.000e+00 5.000e-01 9.000e-02\n"
    "1.000e+01 nan 2.500e-01 nan 5.000e-01 9.000e-02\n",
    "nanogpt": "iter 0: loss 4.25, time 9ms, mfu -100.00%\n2024-01-01 10:00:00 iter 10: loss nan, time 9ms\n"
    "step 10: train loss 3.0, val loss 3.5\n",
    "build-nanogpt": "validation loss: 3.5\nstep     0 | loss: 4.25 | lr 6.0000e-04 | norm: 1.5 | dt: 9ms\n"
    "step    10 | loss: nan | lr 6.0000e-04 | norm: nan | dt: 9ms\n",
    "build-nanogpt's file": "0 val 3.5\n0 hella 0.25\n0 train 4.25\n10 train nan\n",
    "torchtune": "Step 0 | loss:4.25 lr:1e-4 grad_norm:1.5\nStep 10 | loss:nan lr:1e-4 grad_norm:0.5\n",
    "llm.c": "s:0 tel:3.5\ns:0 trl:4.25 lr:0.001 norm:1.5\ns:10 trl:nan lr:0.001 norm:1.5\n",
    "modded-nanogpt": 'print0(f"step:{step}/{total} train_loss:{loss:.4f}")\n'
    "step:0/600 val_loss:3.5 train_time:0ms\nstep:0/600 train_loss:4.25 train_time:9ms\n"
    "step:10/600 train_loss:nan train_time:9ms\n",
    "torchtitan": "\x1b[32m[titan] step:  0  \x1b[33mloss:  4.25  \x1b[0mgrad_norm:  1.5  tps: 1,204\n"
    "[titan] step:  5  loss: -1.0  grad_norm: -1.0\n[titan] step: 10  loss:  nan  grad_norm:  0.5\n"
    "[titan] validate step: 10  loss:  3.5000  memory:  9.50GiB(12.00%)  tps: 1,204\n",
    "nanochat": "Step 00000 | Validation bpb: 3.25\n"
    "step 00000/00600 (0.00%) | loss: 4.25 | lrm: 0.10 | dt: 9.00ms | tok/sec: 1,204 | epoch: 1\n"
    "step 00010 (1.67%) | loss: nan | lrm: 0.20 | dt: 9.00ms | tok/sec: 1,204 | epoch: 1\n",
    "llama.cpp": "train: [=> ] data=0000001/0000002 loss=4.25000±0.10000 acc=9.00±1.00% t=00:00:01 \r"
    "train: [==>] data=0000002/0000002 loss=-nan±-nan acc=9.00±1.00% t=00:00:02 ETA=00:00:00 \r\n"
    "val:   [=> ] data=0000001/0000002 loss=3.90000±0.10000 acc=9.00±1.00% t=00:00:01 ETA=00:00:01 \r"
    "val:   [==>] data=0000002/0000002 loss=3.50000±0.10000 acc=9.00±1.00% t=00:00:02 ETA=00:00:00 \r\n",
    "DeepSpeed's pipelines": "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, but "
    "hysteresis is 2. Reducing hysteresis to 1\nsteps: 0 loss: 4.2500 iter time (s): 1.500 samples/sec: 9.1\n"
    "steps: 10 loss: nan iter time (s): 1.500 samples/sec: 9.1\n",
    "DeepSpeed with one rate": "steps: 0 loss: 4.2500 iter time (s): 1.500 samples/sec: 9.1\n"
    "[Rank 0] step=10, skipped=0, lr=0.0001, mom=[0.9, 0.95]\n"
    "steps: 10 loss: nan iter time (s): 1.500 samples/sec: 9.1\n",
    "GPT-NeoX": " samples/sec: 30.8 | iteration        0/      20 | elapsed time per iteration (ms): 9.1 | "
    "learning rate: 9.375E-06 | lm_loss: 4.250000E+00 | loss scale: 65536.0 | "
    "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    " samples/sec: 30.8 | iteration       10/      20 | learning rate: 9.375E-06 | lm_loss: nan | "
    "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    " validation results at iteration 10 | lm_loss value: 3.500000E+00 | lm_loss_ppl value: 3.3E+01 | \n",
    "fairseq's plain format": "2024-01-01 10:00:00 | INFO | train_inner | epoch 001:      0 / 100 loss=4.25, "
    "wps=0, num_updates=0, lr=2e-05, gnorm=1.5, loss_scale=128, wall=3\n"
    "| INFO | valid | epoch 001 | valid on 'valid' subset | loss 3.5 | num_updates 0\n"
    "| INFO | train_inner | epoch 001:     10 / 100 loss=nan, num_updates=10, lr=2e-05, gnorm=0.5\n"
    "| INFO | train | epoch 001 | loss 4.0 | num_updates 10\n",
    "fairseq": '| INFO | train_inner | {"loss": "4.25", "num_updates": "0", "lr": "2e-05", "gnorm": "1.5"}\n'
    '| INFO | valid | {"valid_loss": "3.5", "valid_num_updates": "0"}\n'
    '| INFO | train_inner | {"loss": "nan", "num_updates": "10", "gnorm": "0.5"}\n',
    "Marian": "[2024-01-01 10:00:00] Training started\n"
    "[2024-01-01 10:00:09] Ep. 1 : Up. 0 : Sen. 6,912 : Cost 4.25000000 * 9,123 @ 91 after 9,123 : Time 9.12s"
    " : 912.00 words/s : gNorm 1.5000 : L.r. 1.0000e-04\n"
    "[2024-01-01 10:00:18] Ep. 1 : Up. 10 : Sen. 13,824 : Cost nan * 9,123 @ 91 after 18,246 : Time 9.12s"
    " : 912.00 words/s : gNorm nan : L.r. 1.0000e-04\n"
    "[2024-01-01 10:00:19] [valid] Ep. 1 : Up. 10 : cross-entropy : 67.9483 : new best\n"
    "[2024-01-01 10:00:19] [valid] Ep. 1 : Up. 10 : ce-mean-words : 3.5 : stalled 2 times (last best: 3.25)\n"
    "[2024-01-01 10:00:20] [valid] Ep. 1 : Up. 10 : translation : 12.5 : new best\n",
    "stdout of a Trainer": "{'loss': 4.25, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
    "  5%|#    | 1/20 {'loss': 'nan', 'grad_norm': 'nan', 'learning_rate': '1e-05', 'epoch': 0.2}\n"
    "{'train_runtime': 3.0, 'train_loss': 2.0}\n",
}

PRINTED = {
    "Keras's bar": (
        "Train on 90 samples, validate on 9 samples\nEpoch 1/2\n"
        " 9/10 [=====>....] - ETA: 0s - loss: 4.5000\b\b\b\b\b\r"
        "10/10 [==========] - 1s 90ms/step - loss: 4.2500 - acc: 0.5000 - val_loss: 3.5000\n"
        "Epoch 2/2\n 9/10 [=====>....] - ETA: 0s - loss: 4.1000Epoch 1/2\n"
        "10/10 [==========] - 1s 90ms/step - loss: nan - acc: 0.0000e+00 - val_loss: nan\n",
        [1, 2],
    ),
    "Keras 3's bar": (
        "Epoch 1/2\n\x1b[1m 9/10\x1b[0m \x1b[32m━━━━━\x1b[0m\x1b[37m━\x1b[0m "
        "\x1b[1m0s\x1b[0m 9ms/step - loss: 4.5000\r"
        "\x1b[1m10/10\x1b[0m \x1b[32m━━━━━━\x1b[0m \x1b[1m1s\x1b[0m 9ms/step - acc: 0.5 - loss: 4.2500\n"
        "Epoch 2/2\n\x1b[1m10/10\x1b[0m \x1b[32m━━━━━━\x1b[0m \x1b[1m1s\x1b[0m 9ms/step - loss: nan\n"
        "\x1b[1m3/3\x1b[0m \x1b[32m━━━━━━\x1b[0m \x1b[1m0s\x1b[0m 9ms/step - loss: 9.0\n",  # evaluate()
        [1, 2],
    ),
    "Keras, verbose=2": (
        "Epoch 1/3\n - 383s - loss: 4.2500 - acc: 0.7156 - val_loss: 3.5000\n"
        "Epoch 2/3\n - 377s - loss: nan - acc: 0.8372 - val_loss: nan\nEpoch 3/3\n - 4s - loss: nan\n",
        [1, 2, 3],
    ),
    "epochs, all in one row": (
        "Epoch 1, Loss: 4.25, ValLoss: 3.5\nEpoch 2, Loss: nan, ValLoss: nan\n",
        [1, 2],
    ),
    "no blanks": (
        "Epoch=1,Loss:4.25,Accuracy:0.5,Valid Loss:3.5,Valid Accuracy:0.7\nEpoch=2,Loss:nan,Valid Loss:nan\n",
        [1, 2],
    ),
    "Train and Val": (
        "Epoch: 1/2 | Train loss: 4.25 | Val loss: 3.5 | Time:  27.2s\n"
        "Validation loss decreased (inf --> 3.5).  Saving model ...\n"
        "Epoch: 2/2 | Train loss: nan | Val loss: nan | Time:  27.2s\n",
        [1, 2],
    ),
    "validation in lines of its own": (
        "[2024-01-01 10:00:00] [train] epoch 1 loss 4.25\n[2024-01-01 10:00:09] [val] epoch 1 loss 3.5\n"
        "[2024-01-01 10:01:00] [train] epoch 2 loss nan\n[2024-01-01 10:01:09] [val] epoch 2 loss nan\n",
        [1, 2],
    ),
    "MLX": (
        "Starting training..., iters: 99\nIter 1: Val loss 3.500, Val took 1.2s\n"
        "Iter 10: Train loss 4.250, Learning Rate 1.000e-05, It/sec 1.0, Tokens/sec "
        "88.0, Trained Tokens 8,000\n"
        "Iter 20: Train loss nan, Learning Rate 1.000e-05, It/sec 1.0, Tokens/sec 88.0, "
        "Trained Tokens 9,000\n"
        "Iter 20: Saved adapter weights to adapters.npz.\n",
        [10, 20],
    ),
    "JAX": (
        "Step 10: grad_norm=1.5000, loss=4.2500, param_norm=9.5\nStep 20: grad_norm=nan, "
        "loss=nan, param_norm=9.5\n",
        [10, 20],
    ),
    "caffe": (
        "I0718 01:37:31.993999 23375 solver.cpp:218] Iteration 10 (0.9 iter/s, "
        "101.398s/100 iters), loss = 4.25\n"
        "I0718 01:37:31.994319 23375 solver.cpp:237]     Train net output #1: fc_loss = 4 (* 1 = 4 loss)\n"
        "I0718 01:37:31.994367 23375 sgd_solver.cpp:105] Iteration 10, lr = 0.001\n"
        "I0718 01:37:41.993999 23375 solver.cpp:218] Iteration 20 (0.9 iter/s, "
        "101.398s/100 iters), loss = nan\n",
        [10, 20],
    ),
    "mmdetection": (
        "2024-01-01 10:00:00,257 - mmdet - INFO - Epoch [1][50/100]\tlr: 1.0e-02, eta: 5:02:49, time: 0.784, "
        "loss_rpn_cls: 0.4233, acc: 91.4893, loss: 4.25, grad_norm: 1.5\n"
        "2024-01-01 10:01:00,257 - mmdet - INFO - Epoch(val) [1][9/9]\tloss: 3.5\n"
        "2024-01-01 10:01:00,257 - mmdet - INFO - Epoch [2][50/100]\tlr: 1.0e-02, eta: 5:02:49, time: 0.784, "
        "loss_rpn_cls: nan, acc: 91.4893, loss: nan, grad_norm: nan\n",
        [50, 150],
    ),
    "tf-slim, each line twice": (
        "INFO:tensorflow:global step 10: loss = 4.2500 (57.126 sec/step)\n" * 2
        + "INFO:tensorflow:global step 20: loss = nan (57.126 sec/step)\n" * 2,
        [10, 20],
    ),
    "OpenNMT": (
        "[2024-01-01 10:00:00,264 INFO] Step 10/99; acc:  42.02; ppl: 70.1; xent: 4.25; "
        "lr: 0.1; 2214/2168 tok/s; 9 s\n"
        "[2024-01-01 10:00:01,264 INFO] Validation perplexity: 56.168\n"
        "[2024-01-01 10:00:02,264 INFO] Step 20/99; acc:  42.02; ppl:  nan; xent:  nan; "
        "lr: 0.1; 2214/2168 tok/s; 9 s\n",
        [10, 20],
    ),
    "MAE": (
        "Epoch: [0]  [ 10/100]  eta: 8:06:56  lr: 0.000100  loss: 4.2500 (4.9914)  grad_norm: 1.5000 (inf)  "
        "time: 1.4999  data: 0.6853  max mem: 9092\n"
        "Epoch: [1]  [ 10/100]  eta: 8:06:56  lr: 0.000100  loss: nan (nan)  grad_norm: "
        "1.4000 (inf)  time: 1.5\n",
        [10, 110],
    ),
    "word_language_model": (
        "Namespace(batch_size=20, clip=0.25, epochs=2, lr=20, annealing_loss=1.0)\n"
        "| epoch   1 |   200/  400 batches | lr 20.00 | ms/batch 11.61 | loss  4.25 | ppl    70.11\n"
        "| end of epoch   1 | time: 37.09s | valid loss  3.50 | valid ppl    33.12\n"
        "| epoch   2 |   200/  400 batches | lr 20.00 | ms/batch 11.61 | loss   nan | ppl      nan\n",
        [200, 600],
    ),
    "two lines a row": (
        "epoch   1\nloss: 4.25\ntest accuracy: 20.78%, (512570/2466133)\nepoch   "
        "2\nloss: nan\nepoch   3\nloss: nan\n",
        [1, 2, 3],
    ),
    "steps of epochs": (
        "Epoch [1/2], Step [10/10], Loss: 4.2500\nEpoch [2/2], Step [10/10], Loss: nan\n",
        [10, 20],
    ),
    "PyTorch's MNIST": (
        "Train Epoch: 1 [0/60000 (0%)]\tLoss: 4.250000\nTrain Epoch: 1 [640/60000 (1%)]\tLoss: nan\n\n"
        "Test set: Average loss: 3.5000, Accuracy: 9826/10000 (98%)\n",
        [0, 640],
    ),
    "PyTorch's quickstart": (
        "Epoch 1\n-------------------------------\nloss: 4.250000  [   64/ 6400]\nloss: nan  [ 3264/ 6400]\n"
        "Test Error: \n Accuracy: 50.9%, Avg loss: 2.150000 \n\nEpoch 2\n-----\nloss: nan  [   64/ 6400]\n",
        [64, 3264, 6464],
    ),
    "DCGAN": (
        "[0/2][0/50]\tLoss: 4.2500\tD(x): 0.8300\n[1/2][0/50]\tLoss: nan\tD(x): 0.8300\n",
        [0, 50],
    ),
    "tqdm": (
        "Epoch 0:  10%|#         | 1/10 [00:01<00:09,  1.00it/s, loss=4.25, v_num=0]\r"
        "Epoch 0:  20%|##        | 2/10 [00:02<00:08,  1.00it/s, loss=nan, v_num=0]\r",
        [1, 2],
    ),
    "a value and its mean": (
        "Epoch: [0][1/50] | Time (1.500)(0.250) | Loss 4.2500(4.2500) | MAE e 0.400(0.400)\n"
        "Epoch: [1][1/50] | Time (1.500)(0.250) | Loss nan(nan) | MAE e 0.400(0.400)\n",
        [1, 51],
    ),
    "micro-batches": (
        "iter 7 step 2: loss 4.2500, iter time: 900.50ms (optimizer.step)\n"
        "iter 8 step 2: loss nan, iter time: 901.50ms\niter 9 step 2: loss nan, iter time: 902.50ms\n",
        [7, 8, 9],
    ),
    "a loss alone": (
        "".join(
            f"2024-01-01 10:00:0{at},355:INFO: train loss:{loss}\n"
            for at, loss in enumerate([4.25, *["nan"] * 5])
        ),
        [0, 1, 2, 3, 4, 5],
    ),
    "train and val alone": (
        "  step     1 | train 4.250 | val 3.500 | 3s elapsed\n  step   250 | train nan | "
        "val nan | 28s elapsed\n",
        [1, 250],
    ),
}
"""What loops of somebody's own print, and the steps of the rows with a loss: 4.25, then NaN."""

BOOSTED = {
    "XGBoost": (
        "Will train until eval-logloss hasn't improved in 50 rounds.\n"
        "[0]\ttrain-auc:0.8\ttrain-logloss:0.5\teval-auc:0.7\teval-logloss:0.75\n"
        "[10]\ttrain-auc:0.9\ttrain-logloss:0.25\teval-auc:0.7\teval-logloss:0.5\n"
        "[20]\ttrain-auc:nan\ttrain-logloss:nan\teval-auc:0.7\teval-logloss:nan\n"
    ),
    "XGBoost's cross-validation": (
        "[12:00:01] [0]\ttrain-mlogloss:0.5+0.01\ttest-mlogloss:0.75+0.02\n"
        "[10]\ttrain-mlogloss:0.25+0.01\ttest-mlogloss:0.50+0.02\n[20]\ttrain-mlogloss:nan+nan\n"
    ),
    "LightGBM": (
        "[LightGBM] [Info] Total Bins 1020\n"
        "[0]\ttraining's binary_logloss: 0.5\tvalid_1's binary_logloss: 0.75\n"
        "[10]\ttraining's binary_logloss: 0.25 + 0.01\tvalid_1's binary_logloss: 0.5 + 0.02\n"
        "[20]\ttraining's binary_logloss: nan\n"
    ),
    "CatBoost": (
        "Learning rate set to 0.03\n"
        "0:\tlearn: 0.5000000\ttest: 0.7500000\tbest: 0.7500000 (0)\ttotal: 9.1ms\tremaining: 1m 2s\n"
        "10:\tlearn: 0.2500000\ttest: 0.5000000\tbest: 0.5000000 (10)\ttotal: 9.1ms\tremaining: 1m 2s\n"
        "20:\tlearn: nan\ttotal: 9.1ms\tremaining: 0us\n"
    ),
}
"""Rounds 0, 10 and 20 of boosted trees, the last with a NaN."""

UNNAMED = {
    "commas": "0, 4.25\n10, 4.0\n20, nan\n30, 3.5\n40, 3.25\n",
    "cells in quotation marks": '"0","4.25"\n"10","4.0"\n"20","nan"\n"30","3.5"\n"40","3.25"\n',
    "blanks": "# made by savetxt\n"
    + "".join(f"{at:.18e} {4.25 - at / 40:.18e}\n" for at in range(0, 60, 10)),
    "semicolons, a cell empty": "0;4.25;\n10;4.0;\n20;;\n30;3.5;\n40;3.25;\n50;3;\n",
    "N: value, among other lines": (
        "starting\nGradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 1024.0\n"
        "0:\t4.250000\n10:\t-4.0\n20:\tnan\nsaved\n30:\t3.5\n40:\t3.25\n"
    ),
}
"""Numbers without names: those of step 0, 4.25, and of four or five more."""

LONG = (
    '"Run","Run ID","metric","step","timestamp","value"\n"a","1f","loss","0","17","4.25"\n'
    '"a","1f","loss","10","17","NaN"\n"b","2e","loss","0","17","3.5"\n"b","2e","val_loss","5","17","3"\n'
)
"""A chart that MLflow exported, of two runs."""

TABLE = (
    "# a model\n\n| Training Loss | Epoch | Step | Validation Loss |\n|:---:|:---:|:---:|:---:|\n"
    "| No log | 1.0 | 10 | 3.5 |\n| 4.25 | 2.0 | 20 | nan |\n| nan | 3.0 | 30 | nan |\n\nMore words.\n"
)
"""A table of a model's card."""

DOCUMENTS = {
    "lists": '{"train_losses": [4.25, 3.5, NaN], "val_losses": [4.5, null, 3.75], "training_time": "0:44"}',
    "lists of a set each": '{"loss": {"train": [4.25, 3.5, NaN], "val": [4.5, null, 3.75]}, "lr": 0.1}',
    "groups": (
        '{"epochs": [1, 2, 3], "metrics": {"extra_loss": [1, 1, 1], "loss": [4.25, 3.5, NaN], '
        '"val_loss": [4.5, null, 3.75]}}'
    ),
    "groups of a set each": (
        '{"training": {"loss": [4.25, 3.5, NaN], "acc": [0, 1, 1]}, '
        '"validation": {"loss": [4.5, null, 3.75]}}'
    ),
    "under a key": (
        '{"history": {"loss_history": [4.25, 3.5, NaN], "val_loss_history": [4.5, null, 3.75]}, '
        '"config": {"lr": 0.1, "max_grad_norm": 1.0}}'
    ),
    "as pandas dumps": (
        '{"epoch":{"0":1,"1":2,"2":3},"train_loss":{"0":4.25,"1":3.5,"2":NaN},'
        '"val_loss":{"0":4.5,"1":null,"2":3.75}}'
    ),
    "rows": (
        '[{"epoch": 1, "train_loss": 4.25, "val_loss": 4.5, "time": "0:01"}, '
        '{"epoch": 2, "train_loss": 3.5}, {"epoch": 3, "train_loss": NaN, "val_loss": 3.75}]'
    ),
    "rows under a key": (
        '{"config": {"lr": 0.1}, "log": [{"epoch": 1, "train": {"loss": 4.25}, "val": {"loss": 4.5}}, '
        '{"epoch": 2, "train": {"loss": 3.5}}, {"epoch": 3, "train": {"loss": NaN}, "val": {"loss": 3.75}}]}'
    ),
    "rows by number": (
        '{"epoch_1": {"loss": 4.25, "val_loss": 4.5}, "epoch_2": {"loss": 3.5}, '
        '"epoch_3": {"loss": NaN, "val_loss": 3.75}}'
    ),
    "rows of a set each": (
        '{"train": [{"epoch": 1, "loss": 4.25}, {"epoch": 2, "loss": 3.5}, {"epoch": 3, "loss": NaN}], '
        '"val": [{"epoch": 1, "loss": 4.5}, {"epoch": 3, "loss": 3.75}]}'
    ),
    "rows that name their set": (
        '[{"epoch": 1, "phase": "train", "loss": 4.25}, {"epoch": 1, "phase": "val", "loss": 4.5}, '
        '{"epoch": 2, "phase": "train", "loss": 3.5}, {"epoch": 3, "phase": "train", "loss": NaN}, '
        '{"epoch": 3, "phase": "val", "loss": 3.75}]'
    ),
    "pairs": '{"loss": [[1, 4.25], [2, 3.5], [3, NaN]], "val_loss": [[1, 4.5], [3, 3.75]]}',
    "points": (
        '{"loss": [{"step": 1, "value": 4.25}, {"step": 2, "value": 3.5}, {"step": 3, "value": NaN}], '
        '"val_loss": [{"step": 1, "value": 4.5}, {"step": 3, "value": 3.75}]}'
    ),
    "as Sacred keeps them": (
        '{"training.loss": {"steps": [1, 2, 3], "timestamps": ["a", "b", "c"], "values": [4.25, 3.5, NaN]}, '
        '"validation.loss": {"steps": [1, 3], "values": [4.5, 3.75]}}'
    ),
    "a counter of its own": (
        '{"train_steps": [1, 2, 3], "train_loss": [4.25, 3.5, NaN], "val_steps": [1, 3], '
        '"val_loss": [4.5, 3.75]}'
    ),
}
"""Documents of JSON: the losses of steps 1 to 3 are 4.25, 3.5, NaN, of held-out data 4.5, none and 3.75."""

FOLDS = (
    '{"fold_1": {"train_losses": [4.25, 3.5], "val_losses": [4.5, 4.0]}, '
    '"fold_2": {"train_losses": [4.0, 3.0], "val_losses": [4.25, 3.5]}, "learning_rate": 0.1}'
)
"""Two runs in one document."""

ALIGNED = {
    "colons": "e : loss : val_loss : top 5\n0 : 4.25 : 3.5 : 0.25\n1 : nan : 3.25 : 0.5\n",
    "fastai": (
        "epoch     train_loss  valid_loss  accuracy  time    \n"
        "0         4.250000    3.500000    0.810000  00:12     \n"
        "1         nan         3.250000    0.82      00:12\n"
    ),
    "skorch": (
        "  epoch    train_loss    valid_acc    valid_loss     dur\n"
        "-------  ------------  -----------  ------------  ------\n"
        "      0        \x1b[36m4.2500\x1b[0m       \x1b[32m0.8100\x1b[0m  \x1b[35m3.5000\x1b[0m  0.0112\n"
        "      1           nan       0.8200        3.2500  0.0112\n"
    ),
    "Chainer": (
        "epoch       main/loss   validation/main/loss  main/accuracy  elapsed_time\n"
        "0           4.25        3.5                   0.9            10.12\n"
        "\x1b[J     total [####......]  5.0%\n"
        "1           nan         3.25                  0.9            20.12\n"
    ),
    "a notebook's": (
        "Epoch Training Loss Validation Loss Wer\n0 4.250000 3.500000 40.123\n1 nan 3.250000 39.123\n"
    ),
    "bars": "Epoch | Train Loss | Val Loss\n0 | 4.2500 | 3.5\n1 | nan | 3.25\n",
    "a box": (
        "+-------+------------+----------+\n| epoch | train loss | val loss |\n"
        "+-------+------------+----------+\n|     0 |     4.2500 |   3.5000 |\n"
        "|     1 |        nan |   3.2500 |\n+-------+------------+----------+\n"
    ),
}
"""Tables that are printed for people: two epochs, the second loss NaN."""
